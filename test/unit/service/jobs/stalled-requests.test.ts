import { expect, test } from "vitest";
import { openUpload } from "../../../support/raw-http";
import { useJobRig } from "./support/job-rig";

const key = "a-key-for-this-test-only";

test("a body that stalls returns 408 and frees its place among the concurrent requests", async () => {
  const rig = await useJobRig({ timings: { requestLimit: 3000 }, rateLimits: "on" });
  const jobs = await rig.endpoint("none", { workersMax: 0 });
  const url = `${rig.root}/v2/${jobs.id}/cancel/nosuchjob`;
  // 20 of them have the places of /cancel, the others find none.
  const stalled = await Promise.all(Array.from({ length: 25 }, () => openUpload(url, key, {})));
  const statuses = await Promise.all(stalled.map(({ status }) => status));
  expect(statuses.sort()).toEqual([...Array.from({ length: 20 }, () => 408), ...Array.from({ length: 5 }, () => 429)]);
  expect((await jobs.call("POST", "/cancel/nosuchjob")).status).toBe(404);
});

test("a call that is held longer than the request limit is not affected", async () => {
  const rig = await useJobRig({ timings: { requestLimit: 1000 } });
  const jobs = await rig.endpoint("none", { workersMax: 0 });
  const answer = await jobs.call("POST", "/runsync?wait=2500", { input: {} });
  expect(answer.status).toBe(200);
  expect(answer.text("status")).toBe("IN_QUEUE");
});

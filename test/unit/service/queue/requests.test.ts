import { expect, test } from "vitest";
import { apiKey, useLocalService, useSharedService } from "../../../support/local-service";
import { expectResponse, openUpload } from "../../../support/raw-http";

const requestLimit = 1000;
const rig = await useSharedService({ timings: { requestLimit }, rateLimits: "on" });
const { id, call, submit } = await rig.jobsOn("none", { workersMax: 0 });

test("a stalled body returns 408 and frees its place among the concurrent requests; a pending call continues", async () => {
  const pending = call("POST", `/runsync?wait=${2.5 * requestLimit}`, { input: {} });
  // The limit of concurrent requests of /cancel.
  const stalled = await Promise.all(
    Array.from({ length: 20 }, () => openUpload(`${rig.root}/v2/${id}/cancel/nosuchjob`, apiKey, {})),
  );
  const statuses = await Promise.all(stalled.map(({ status }) => status));
  expect(statuses).toEqual(stalled.map(() => 408));
  expect((await call("POST", "/cancel/nosuchjob")).status).toBe(404);
  expectResponse(await pending, 200, { status: "IN_QUEUE" });
});

test("/health and /retry have no rate limit", async () => {
  const job = await submit({});
  const calls = Array.from({ length: 110 }, () => [call("GET", "/health"), call("POST", `/retry/${job}`)]).flat();
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 400]));
});

test("with rateLimits off, no call is rejected", async () => {
  const jobs = await (await useLocalService({ rateLimits: "off" })).jobsOn("none", { workersMax: 0 });
  // The limit of /purge-queue is 2.
  const calls = Array.from({ length: 5 }, () => jobs.call("POST", "/purge-queue"));
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
});

test.each(["limit", "cursor"])("/requests accepts only decimal digits as %s", async (name) => {
  const jobs = await (await useLocalService()).jobsOn("none", { workersMax: 0 });
  for (const text of ["1e1", "0x10", "5.0", "%205", "+5", "", "0", "-1", "true", "99999999999999999999"])
    expect((await jobs.call("GET", `/requests?${name}=${text}`)).status, text).toBe(400);
});

test("a HEAD request takes no job and reads no stream", async () => {
  for (const path of ["/job-take/some-worker", "/stream/some-job", "/health"])
    expect((await call("HEAD", path)).status, path).toBe(404);
});

import { type Clock, wallClock } from "serverless-compute-api/clock";
import { expect, test } from "vitest";
import { useLocalService, useSharedService } from "../../../support/local-service";
import { expectResponse, openUpload, stringAt } from "../../../support/raw-http";

const rig = await useSharedService({ rateLimits: "on" });
const unlimited = await useSharedService({ rateLimits: "off" });
const { call, submit } = await rig.jobsOn("none", { workersMax: 0 });

test("a stalled body returns 408 and frees its place among the concurrent requests; a pending call continues", async () => {
  const requestLimit = 1000;
  const rig = await useLocalService({ timings: { requestLimit }, rateLimits: "on" });
  const { id, call } = await rig.jobsOn("none", { workersMax: 0 });
  const pending = call("POST", `/runsync?wait=${2.5 * requestLimit}`, { input: {} });
  // The limit of concurrent requests of /cancel.
  const stalled = await Promise.all(
    Array.from({ length: 20 }, () => openUpload(`${rig.root}/v2/${id}/cancel/nosuchjob`, rig.service.apiKey, {})),
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
  const jobs = await unlimited.jobsOn("none", { workersMax: 0 });
  // The limit of /purge-queue is 2.
  const calls = Array.from({ length: 5 }, () => jobs.call("POST", "/purge-queue"));
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
});

test.each(["limit", "cursor"])("/requests accepts only decimal digits as %s", async (name) => {
  const jobs = await unlimited.jobsOn("none", { workersMax: 0 });
  for (const text of ["1e1", "0x10", "5.0", "%205", "+5", "", "0", "-1", "true", "99999999999999999999"])
    expect((await jobs.call("GET", `/requests?${name}=${text}`)).status, text).toBe(400);
});

test("a HEAD request takes no job and reads no stream", async () => {
  for (const path of ["/job-take/some-worker", "/stream/some-job", "/health"])
    expect((await call("HEAD", path)).status, path).toBe(404);
});

const calls = [
  ["GET", "/status/"],
  ["GET", "/status-sync/"],
  ["GET", "/stream/"],
  ["POST", "/retry/"],
  ["POST", "/cancel/"],
] as const;

test.each([
  ["run", -3_600_000],
  ["runsync?wait=1000", 3_600_000],
])(
  "a new job of /%s is not found until the delay of its visibility has elapsed, after a change of the system time by %i ms",
  async (submit, change) => {
    let ahead = 0;
    const clock: Clock = { ...wallClock, now: () => wallClock.now() + ahead };
    const delay = 3_600_000;
    const rig = await useLocalService({ clock, jobVisibilityDelay: delay });
    ahead = change;
    const { call } = await rig.jobsOn("none", { workersMax: 0 });
    const response = await call("POST", `/${submit}`, { input: {} });
    expectResponse(response, 200, { status: "IN_QUEUE" });
    const id = stringAt(response, "id");
    for (const [method, path] of calls)
      expectResponse(await call(method, path + id), 404, { error: `job "${id}" not found` });
    ahead += delay - 600_000;
    expect((await call("GET", `/status/${id}`)).status).toBe(404);
    ahead += 600_000;
    expectResponse(await call("GET", `/status/${id}`), 200, { id, status: "IN_QUEUE" });
    ahead -= delay + 600_000;
    expect((await call("GET", `/status/${id}`)).status, "after the system time was set back").toBe(200);
    expect((await call("POST", `/retry/${id}`)).status).toBe(400);
    expectResponse(await call("POST", `/cancel/${id}`), 200, { id, status: "CANCELLED" });
    expect((await call("GET", `/stream/${id}`)).status).toBe(200);
  },
);

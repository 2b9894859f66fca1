import { expect, test } from "vitest";
import { useLocalService } from "../../../support/local-service";
import { OffsetClock } from "../../../support/offset-clock";
import { expectResponse, stringAt } from "../../../support/raw-http";

const calls = [
  ["GET", "/status/"],
  ["GET", "/status-sync/"],
  ["GET", "/stream/"],
  ["POST", "/retry/"],
  ["POST", "/cancel/"],
] as const;

test.each(["run", "runsync?wait=1000"])(
  "a new job of /%s is not found until the delay of its visibility has elapsed",
  async (submit) => {
    const clock = new OffsetClock();
    const delay = 3_600_000;
    const rig = await useLocalService({ clock, jobVisibilityDelay: delay });
    const { call } = await rig.jobsOn("none", { workersMax: 0 });
    const response = await call("POST", `/${submit}`, { input: {} });
    expectResponse(response, 200, { status: "IN_QUEUE" });
    const id = stringAt(response, "id");
    for (const [method, path] of calls)
      expectResponse(await call(method, path + id), 404, { error: `job "${id}" not found` });
    await clock.advance(delay - 600_000);
    expect((await call("GET", `/status/${id}`)).status).toBe(404);
    await clock.advance(600_000);
    expectResponse(await call("GET", `/status/${id}`), 200, { id, status: "IN_QUEUE" });
    expect((await call("POST", `/retry/${id}`)).status).toBe(400);
    expectResponse(await call("POST", `/cancel/${id}`), 200, { id, status: "CANCELLED" });
    expect((await call("GET", `/stream/${id}`)).status).toBe(200);
  },
);

test("without the delay, a new job is found at once", async () => {
  const { call, submit } = await (await useLocalService()).jobsOn("none", { workersMax: 0 });
  const id = await submit({});
  for (const [method, path] of [calls[0], calls[4]]) expect((await call(method, path + id)).status).toBe(200);
});

import { type Clock, steadyClock, systemClock } from "serverless-compute-api/clock";
import { expect, test } from "vitest";
import { createJobEvents } from "../../../../service/jobs/events";
import { createJobWaits } from "../../../../service/jobs/waits";
import { ManualClock } from "../../../support/manual-clock";
import { useJobRig } from "./support/job-rig";

/** A machine's clock that is changed by `ahead` ms. */
function settableClock() {
  const set = { ahead: 0 };
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + set.ahead };
  return { clock, set };
}

test("a steady clock ignores changes of its clock", () => {
  const { clock, set } = settableClock();
  const steady = steadyClock(clock);
  const before = steady.now();
  expect(Math.abs(before - Date.now())).toBeLessThan(1000);
  for (const ahead of [-3_600_000, 3_600_000]) {
    set.ahead = ahead;
    expect(steady.now() - before).toBeGreaterThanOrEqual(0);
    expect(steady.now() - before).toBeLessThan(1000);
  }
});

test("/runsync responds in time although the machine's time is set back", async () => {
  const { clock, set } = settableClock();
  const rig = await useJobRig({ clock });
  const { call } = await rig.endpoint("none", { workersMax: 0 });
  const started = performance.now();
  const waiting = call("POST", "/runsync?wait=1000", { input: {} });
  await systemClock.sleep(50);
  set.ahead = -3_600_000;
  expect((await waiting).json).toMatchObject({ status: "IN_QUEUE" });
  expect(performance.now() - started).toBeLessThan(10_000);
});

test("a HEAD request takes no job and reads no stream", async () => {
  const rig = await useJobRig();
  const { call } = await rig.endpoint("none", { workersMax: 0 });
  for (const path of ["/job-take/some-worker", "/stream/some-job", "/health"])
    expect((await call("HEAD", path)).status, path).toBe(404);
});

test("waits end at their own times", async () => {
  const clock = new ManualClock();
  const waits = createJobWaits(createJobEvents(), clock);
  const ended: string[] = [];
  waits.wait("job", 1000, () => void ended.push("short"));
  waits.wait("job", 2000, () => void ended.push("long"));
  await clock.advance(1000);
  await expect.poll(() => ended).toEqual(["short"]);
  await clock.advance(1000);
  await expect.poll(() => ended).toEqual(["short", "long"]);
});

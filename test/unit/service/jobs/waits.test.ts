import { type Clock, steadyClock, systemClock } from "serverless-compute-api/clock";
import { expect, onTestFinished, test } from "vitest";
import { createJobEvents } from "../../../../service/jobs/events";
import { createJobWaits } from "../../../../service/jobs/waits";
import { ManualClock } from "../../../support/manual-clock";
import { openJobs, useJobs } from "./support/jobs-rig";

/** Creates a system clock that can be set `ahead` ms. */
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

test("waits end in time even if the system clock is set back", async () => {
  const { clock, set } = settableClock();
  const { waits } = openJobs(useJobs().database, clock);
  onTestFinished(waits.close);
  const ended = waits.waitForChange("job", 50, new AbortController().signal, false);
  set.ahead = -3_600_000;
  await ended;
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

test("a wait ends with its job, not with a stream chunk, and not after its client has disconnected", async () => {
  const rig = useJobs();
  const id = await rig.run();
  const ended: unknown[] = [];
  const [leave] = ["first", "second"].map((name) =>
    rig.waits.wait(id, 60_000, (end) => void ended.push([name, end?.job.status, end?.output])),
  );
  leave?.();
  await rig.stream.append(id, rig.worker, { output: "1" });
  expect(ended).toEqual([]);
  await rig.jobs.finish(id, rig.worker, { output: "2" });
  expect(ended).toEqual([["second", "COMPLETED", "2"]]);
});

test("a wait for a change ends with a stream chunk", async () => {
  const rig = useJobs();
  const id = await rig.run();
  const changed = rig.waits.waitForChange(id, 60_000, new AbortController().signal, true);
  await rig.stream.append(id, rig.worker, { output: "1" });
  await changed;
});

test("closing ends all waits, and later waits end immediately", () => {
  const waits = createJobWaits(createJobEvents(), new ManualClock());
  const ended: string[] = [];
  const wait = (name: string) => waits.wait("job", 1000, () => void ended.push(name));
  wait("first");
  wait("second");
  expect(waits.closed).toBe(false);
  waits.close();
  expect(ended).toEqual(["first", "second"]);
  expect(waits.closed).toBe(true);
  wait("late");
  expect(ended).toEqual(["first", "second", "late"]);
});

test("a wait for a change ends with its signal, even if the signal is already aborted", async () => {
  const waits = createJobWaits(createJobEvents(), new ManualClock());
  const disconnect = new AbortController();
  const pending = waits.waitForChange("job", 1000, disconnect.signal, false);
  disconnect.abort();
  await pending;
  await waits.waitForChange("job", 1000, disconnect.signal, false);
  waits.close();
});

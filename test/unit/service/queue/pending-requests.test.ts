import { expect, onTestFinished, test } from "vitest";
import { createJobEvents } from "../../../../service/queue/events";
import { createPendingRequests } from "../../../../service/queue/pending-requests";
import { steadyClock } from "../../../../service/steady-clock";
import { ManualClock } from "../../../support/manual-clock";
import { useJobs } from "./support/queue-rig";

/** Records the end of a promise. */
function track(promise: Promise<void>): { readonly ended: boolean } {
  const state = { ended: false };
  void promise.then(() => {
    state.ended = true;
  });
  return state;
}
/** Waits for promises that are already resolved. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test.each([-3_600_000, 3_600_000])("a wait ends in time even if the system clock changes by %i ms", async (change) => {
  const { pendingRequests, clock } = useJobs();
  onTestFinished(pendingRequests.close);
  const wait = track(pendingRequests.waitForChange("job", 1000, new AbortController().signal, false));
  clock.change(change);
  await clock.advance(999);
  expect(wait.ended).toBe(false);
  await clock.advance(1);
  expect(wait.ended).toBe(true);
});

test("waits end at their own times", async () => {
  const clock = new ManualClock();
  const pendingRequests = createPendingRequests(createJobEvents(), steadyClock(clock));
  const ended: string[] = [];
  pendingRequests.wait("job", 1000, () => void ended.push("short"));
  pendingRequests.wait("job", 2000, () => void ended.push("long"));
  await settle();
  expect(clock.waiting, "timers").toBe(1);
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
    rig.pendingRequests.wait(id, 60_000, (end) => void ended.push([name, end?.job.status, end?.output])),
  );
  leave?.();
  await rig.stream.append(id, rig.worker, { output: "1" });
  expect(ended).toEqual([]);
  await rig.jobs.finish(id, rig.worker, { output: "2" });
  expect(ended).toEqual([["second", "COMPLETED", "2"]]);
});

test("a wait ends without a job when its job is removed", async () => {
  const rig = useJobs();
  const id = await rig.run();
  const ended: unknown[] = [];
  rig.pendingRequests.wait(id, 60_000, (end) => void ended.push(end));
  await rig.jobs.removeEndpoint("endpoint");
  expect(ended).toEqual([undefined]);
});

test("a wait for a change ends with a stream chunk, not before and not with that of another job", async () => {
  const rig = useJobs();
  const [id, other] = [await rig.run(), await rig.run()];
  const changed = track(rig.pendingRequests.waitForChange(id, 60_000, new AbortController().signal, true));
  await rig.stream.append(other, rig.worker, { output: "1" });
  await settle();
  expect(changed.ended).toBe(false);
  await rig.stream.append(id, rig.worker, { output: "1" });
  await settle();
  expect(changed.ended).toBe(true);
});

test("closing ends all waits, and later waits end immediately", () => {
  const pendingRequests = createPendingRequests(createJobEvents(), steadyClock(new ManualClock()));
  const ended: string[] = [];
  const wait = (name: string) => pendingRequests.wait("job", 1000, () => void ended.push(name));
  wait("first");
  wait("second");
  expect(pendingRequests.closed).toBe(false);
  pendingRequests.close();
  expect(ended).toEqual(["first", "second"]);
  expect(pendingRequests.closed).toBe(true);
  wait("late");
  expect(ended).toEqual(["first", "second", "late"]);
});

test("a wait for a change ends with its signal, not before, even if the signal is already aborted", async () => {
  const pendingRequests = createPendingRequests(createJobEvents(), steadyClock(new ManualClock()));
  onTestFinished(pendingRequests.close);
  const disconnect = new AbortController();
  const pending = track(pendingRequests.waitForChange("job", 1000, disconnect.signal, false));
  await settle();
  expect(pending.ended).toBe(false);
  disconnect.abort();
  await settle();
  expect(pending.ended).toBe(true);
  const late = track(pendingRequests.waitForChange("job", 1000, disconnect.signal, false));
  await settle();
  expect(late.ended).toBe(true);
});

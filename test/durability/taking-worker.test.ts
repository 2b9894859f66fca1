import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { steadyClock } from "../../service/steady-clock";
import { openDatabase } from "../../service/store/database";
import { defaultTimings } from "../../service/timings";
import { createDispatcher } from "../../service/workers/dispatcher";
import { createWorkerRegistry } from "../../service/workers/registry";
import { scratchFolder } from "../support/folders";
import { ManualClock } from "../support/manual-clock";
import { submissionAt } from "../unit/service/queue/support/queue-rig";
import { startLife } from "./history/parts";

const endpointId = "plain";

/** Creates a dispatcher over the real job path, with a worker and a queued job. */
async function openDispatcher() {
  const database = openDatabase(scratchFolder());
  const clock = new ManualClock();
  const life = startLife(database, clock, false);
  onTestFinished(async () => {
    await life.die();
    database.close();
  });
  const { jobs, events } = life;
  const steady = steadyClock(clock);
  const registry = createWorkerRegistry(steady, () => true);
  const log = pino({ level: "silent" });
  const around = { registry, clock: steady, timings: defaultTimings, log };
  const faults = { jobFailure: () => undefined, stripsEmptyInput: () => false, crashesWorker: () => false };
  const dispatcher = createDispatcher({ jobs, events, faults, ...around });
  const worker = registry.join({ id: "worker", endpointId, redact: String });
  await jobs.submit(submissionAt(clock.now(), { endpointId }));
  const take = (): ReturnType<typeof dispatcher.takeJobs> =>
    dispatcher.takeJobs(worker, 1, undefined, new AbortController().signal);
  return { ...life, registry, dispatcher, worker, take };
}

test("a job taken by an ending worker waits for another worker", async () => {
  const { registry, dispatcher, worker, take, list, active } = await openDispatcher();
  const taking = take();
  // The pool detects the end of the process before the store records the assignment.
  await Promise.resolve();
  registry.remove(worker);
  dispatcher.dismiss(worker);
  expect(await taking).toEqual([]);
  expect(list.find(endpointId, "job")?.job).toMatchObject({ status: "IN_QUEUE", retries: 0 });
  expect([...active.ready(endpointId).jobsForScaling].map(({ id }) => id)).toEqual(["job"]);
});

test("a worker receives the stop of a job that was cancelled while it was taken", async () => {
  const { dispatcher, worker, take, jobs } = await openDispatcher();
  const taking = take();
  // A turn later the assignment is pending, and both changes are in one commit.
  await Promise.resolve();
  await Promise.resolve();
  const cancelled = jobs.cancel(endpointId, "job");
  expect(await cancelled).toMatchObject({ status: "CANCELLED", workerId: "worker" });
  expect(await taking).toHaveLength(1);
  expect(await dispatcher.pollStops(worker, new AbortController().signal)).toEqual(["job"]);
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { defaultTimings } from "../../service/jobs/timings";
import { openDatabase } from "../../service/store/database";
import { createWorkerDesk } from "../../service/workers/desk";
import { createRoster } from "../../service/workers/roster";
import { ManualClock } from "../support/manual-clock";
import { startLife } from "./history/parts";

const endpointId = "plain";

/** A desk over the real job path, with one worker and one waiting job. */
async function openDesk() {
  const folder = mkdtempSync(join(tmpdir(), "taking-worker-"));
  const database = openDatabase(folder);
  const clock = new ManualClock();
  const life = startLife(database, clock, false);
  onTestFinished(async () => {
    await life.die();
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const roster = createRoster();
  const { ledger, events, queues } = life;
  const log = pino({ level: "silent" });
  const around = {
    queue: queues.of,
    clock,
    timings: defaultTimings,
    log,
    joined: () => undefined,
    changed: () => undefined,
  };
  const desk = createWorkerDesk({ ledger, events, roster, ...around });
  const worker = roster.add({ id: "worker", endpointId, local: true, now: clock.now() });
  const times = { createdAt: clock.now(), expiresAt: clock.now() + 60_000 };
  const fields = { operation: "run", lowPriority: false, executionTimeout: undefined, webhook: undefined } as const;
  await ledger.submit({ id: "job", endpointId, ...fields, ...times, s3Config: undefined, input: "{}" });
  const take = (): ReturnType<typeof desk.take> => desk.take(worker, 1, undefined, new AbortController().signal);
  return { ...life, roster, desk, worker, take };
}

test("a job that a worker takes while it ends waits for another one", async () => {
  const { roster, worker, take, ledger, queues } = await openDesk();
  const taking = take();
  // The pool saw the end of the process before the store knew that the job was taken.
  await Promise.resolve();
  roster.remove(worker);
  expect(await taking).toEqual([]);
  expect(ledger.find(endpointId, "job")).toMatchObject({ status: "IN_QUEUE", retries: 0 });
  expect([...queues.of(endpointId).entries()].map(({ id }) => id)).toEqual(["job"]);
});

test("a worker is told to stop a job that was cancelled in the moment it was taken", async () => {
  const { desk, worker, take, ledger } = await openDesk();
  const taking = take();
  // One turn later the take is on its way to the store, and both are in one commit.
  await Promise.resolve();
  await Promise.resolve();
  const cancelled = ledger.cancel(endpointId, "job");
  expect(await cancelled).toMatchObject({ status: "CANCELLED", workerId: "worker" });
  expect(await taking).toHaveLength(1);
  expect(await desk.stops(worker, new AbortController().signal)).toEqual(["job"]);
});

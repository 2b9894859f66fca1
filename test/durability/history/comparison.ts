import { expect } from "vitest";
import { endpointLimits, type Model, type ModelJob } from "./model";
import type { Player } from "./player";

/** Compares the entire state of the job path with the model. */
export function compare(player: Player): void {
  const { model, life, now } = player;
  expect(life.faults, "faults of the expiry").toEqual([]);
  for (const job of model.jobs.values()) compareRecord(job, model, life, now);
  for (const endpointId of Object.keys(endpointLimits)) {
    compareQueue(endpointId, model, life);
    expect(life.counters.read(endpointId), `counters of ${endpointId}`).toEqual(model.countersOf(endpointId));
    expect(life.active.running(endpointId), `running jobs of ${endpointId}`).toBe(model.running(endpointId));
  }
  const { webhooks } = life;
  const ever = Number.MAX_SAFE_INTEGER;
  const notices = webhooks.dueHosts(ever).flatMap((host) => webhooks.dueOf(host, ever, 1000));
  const reported = notices.map(({ id }) => {
    const notice = webhooks.load(id);
    return `${notice?.jobId} ${/"status":"(\w+)"/.exec(notice?.body ?? "")?.[1]}`;
  });
  expect(reported.sort(), "notifications").toEqual([...model.notices].sort());
}

function compareRecord(job: ModelJob, model: Model, life: Player["life"], now: number): void {
  const found = life.store.find(job.id)?.job;
  if (job.status === "REMOVED") {
    expect(found?.status, `${job.id} is removed`).toBeUndefined();
    return;
  }
  const { id, status, createdAt, expiresAt, queuedAt, retries, crashes, workerId, startedAt, finishedAt, output } = job;
  const expected = {
    id,
    status,
    createdAt,
    expiresAt,
    queuedAt,
    retries,
    crashes,
    workerId,
    startedAt,
    finishedAt,
    output,
  };
  const retained = life.store.find(job.id)?.output;
  const real = { workerId: undefined, startedAt: undefined, finishedAt: undefined, ...found, output: retained };
  expect(real, `the record of ${job.id}`).toMatchObject(expected);
  if (found?.error !== undefined) expect(found.error).toContain(job.error);
  else expect(job.error, `${job.id} has no error`).toBeUndefined();
  const live = life.active.get(job.id);
  const onlyInMemory = { hasOutput: false };
  const remembered = { ...(live ?? found), ...onlyInMemory };
  const written = { ...found, ...onlyInMemory };
  expect(remembered, `${job.id} in memory and in the store`).toEqual(written);
  const received = life.list.find(job.endpointId, job.id) !== undefined;
  expect(received, `visibility of ${job.id}`).toBe(model.isVisible(job, now));
}

/** Asserts that the queue contains each queued job once, in order. */
function compareQueue(endpointId: string, model: Model, life: Player["life"]): void {
  const ids = [...life.active.ready(endpointId).jobsForScaling].map(({ id }) => id);
  expect(ids, `the queue of ${endpointId}`).toEqual(model.queued(endpointId).map(({ id }) => id));
  const waiters = model.waiters.get(endpointId)?.length ?? 0;
  expect(life.active.ready(endpointId).hasWaiter, `workers waiting at ${endpointId}`).toBe(waiters > 0);
  if (waiters > 0) expect(ids, `${waiters} workers wait at ${endpointId}, so no job is queued`).toEqual([]);
}

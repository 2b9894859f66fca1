import { expect } from "vitest";
import { endpointLimits, type Model, type ModelJob } from "./model";
import type { Player } from "./player";

/** Holds everything that the job path knows against the model. */
export function compare(player: Player): void {
  const { model, life, now } = player;
  expect(life.faults, "the supervisor had no faults").toEqual([]);
  for (const job of model.jobs.values()) compareRecord(job, model, life, now);
  for (const endpointId of Object.keys(endpointLimits)) {
    compareQueue(endpointId, model, life, player.waitingAt(endpointId));
    expect(life.counters.read(endpointId), `counters of ${endpointId}`).toEqual(model.countersOf(endpointId));
    expect(life.queues.running(endpointId), `running jobs of ${endpointId}`).toBe(model.running(endpointId));
  }
  const { webhooks } = life;
  const ever = Number.MAX_SAFE_INTEGER;
  const notices = webhooks.dueHosts(ever).flatMap((host) => webhooks.dueOf(host, ever, 1000));
  const told = notices.map(({ id }) => {
    const notice = webhooks.load(id);
    return `${notice?.jobId} ${/"status":"(\w+)"/.exec(notice?.body ?? "")?.[1]}`;
  });
  expect(told.sort(), "notifications").toEqual([...model.notices].sort());
}

function compareRecord(job: ModelJob, model: Model, life: Player["life"], now: number): void {
  const found = life.jobs.find(job.id);
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
  const kept = found && life.jobs.output(found.seq);
  const real = { workerId: undefined, startedAt: undefined, finishedAt: undefined, ...found, output: kept };
  expect(real, `the record of ${job.id}`).toMatchObject(expected);
  if (found && "error" in found) expect(found.error).toContain(job.error);
  else expect(job.error, `${job.id} has no error`).toBeUndefined();
  const seen = life.ledger.find(job.endpointId, job.id) !== undefined;
  expect(seen, `clients see ${job.id}`).toBe(model.isVisible(job, now));
}

/** The queue has the waiting jobs, each once, in their order. */
function compareQueue(endpointId: string, model: Model, life: Player["life"], takers: number): void {
  const ids = [...life.queues.of(endpointId).entries()].map(({ id }) => id);
  const expected = model.waiting(endpointId).filter(({ passedOver }) => !passedOver);
  expect(ids, `the queue of ${endpointId}`).toEqual(expected.map(({ id }) => id));
  if (takers > 0) expect(ids, `${takers} workers wait at ${endpointId}, so no job does`).toEqual([]);
}

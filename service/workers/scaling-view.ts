import type { EndpointRow } from "../resources/endpoint-table";
import type { ServiceTimings } from "../timings";
import type { ScaledWorker, ScalingRules, ScalingState } from "./scaler";
import { phaseOf, type WorkerRecord } from "./worker-record";

/** An endpoint's rules for the scaler, with seconds converted to milliseconds. */
export function rulesOf({
  workersMin,
  workersMax,
  scalerType,
  scalerValue,
  idleTimeout,
}: Pick<EndpointRow, keyof ScalingRules>): ScalingRules {
  const value = scalerType === "QUEUE_DELAY" ? scalerValue * 1000 : scalerValue;
  return { workersMin, workersMax, scalerType, scalerValue: value, idleTimeout: idleTimeout * 1000 };
}

/**
 * The scaler's input for an endpoint: its queue and its local workers, from the start to the end of their processes. External workers and
 * their jobs are not scaled, and low-priority jobs start no workers.
 */
export function scalingState(
  waiting: ScalingState["waiting"],
  alive: readonly WorkerRecord[],
  now: number,
  timings: ServiceTimings,
): ScalingState {
  const active = alive.filter(({ draining }) => !draining);
  return {
    now,
    waiting,
    workers: active.map((worker) => toScaledWorker(worker, now, timings)),
    stopping: alive.length - active.length,
  };
}

/** A worker's state for the scaler; an unhealthy worker is not free, but a worker that starts slowly is. */
function toScaledWorker(worker: WorkerRecord, now: number, timings: ServiceTimings): ScaledWorker {
  const { id, startedAt, idleSince, outdated, hasSucceeded, stage, unhealthyReason } = worker;
  const jobs = [...worker.jobs.values()].filter(({ lowPriority }) => !lowPriority).length + worker.requests;
  const health = phaseOf(worker, now, timings);
  const isStarting = stage !== "ready" && unhealthyReason === undefined;
  const phase = health === "idle" ? health : isStarting ? "starting" : "busy";
  const since = phase === "idle" ? idleSince : startedAt;
  const provenByTime = phase === "idle" ? idleSince + timings.rolloutPause : Number.POSITIVE_INFINITY;
  const throttled = health === "throttled";
  return { id, phase, throttled, since, jobs, outdated, provenAt: hasSucceeded ? startedAt : provenByTime };
}

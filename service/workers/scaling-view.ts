import type { JobTimings } from "../jobs/timings";
import type { EndpointRow } from "../store/endpoints";
import { phaseOf, type Worker } from "./roster";
import type { ScaledWorker, ScalingRules } from "./scaler";

/** An endpoint's rules as the scaler knows them: its seconds are milliseconds there. */
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

/** A worker as the scaler sees it; an unhealthy one is no free one. */
export function scaled(worker: Worker, now: number, timings: JobTimings): ScaledWorker {
  const phase = phaseOf(worker, now, timings);
  if (phase === "idle") return { id: worker.id, phase, since: worker.idleSince };
  return { id: worker.id, phase: phase === "initializing" ? "starting" : "busy", since: worker.startedAt };
}

import type { ServiceTimings } from "../timings";
import type { Worker } from "./worker";
import { isBusy, type WorkerRecord } from "./worker-record";

/** Result of a liveness check. `checkAt` is the time at which the result may change, ms of the steady clock. */
export type Liveness =
  | { kind: "healthy"; checkAt: number }
  /** The worker continues a job after the request to stop it. */
  | { kind: "hung"; reason: string }
  /** The worker has stopped calling, or never called. */
  | { kind: "lost"; reason: string };

const inSeconds = (ms: number): string => `${ms / 1000} s`;

/** Checks a worker by its last calls, and records the result. */
export function checkLiveness(worker: Worker, now: number, timings: ServiceTimings): Liveness {
  const stopCheck = checkStops(worker, now, timings);
  if (stopCheck.kind !== "healthy") return stopCheck;
  const silenceLimit = silenceLimitOf(worker, timings);
  if (now < silenceLimit.deadline) {
    worker.foundAlive();
    return { kind: "healthy", checkAt: Math.min(stopCheck.checkAt, silenceLimit.deadline) };
  }
  // A single late check proves nothing: the machine, and with it the worker, may have been suspended.
  const deadline = worker.foundSilent(now) + timings.secondLook;
  if (now < deadline) return { kind: "healthy", checkAt: Math.min(stopCheck.checkAt, deadline) };
  return { kind: "lost", reason: silenceLimit.reason };
}

function checkStops(worker: WorkerRecord, now: number, timings: ServiceTimings): Liveness {
  let checkAt = Number.POSITIVE_INFINITY;
  // A worker that has not returned yet has received no request to stop.
  if (worker.returnDeadline !== undefined) return { kind: "healthy", checkAt };
  for (const [jobId, { since }] of worker.stopping) {
    const deadline = since + timings.stopGrace;
    if (now >= deadline) {
      return {
        kind: "hung",
        reason: `continued job ${jobId} for ${inSeconds(timings.stopGrace)} after the request to stop it`,
      };
    }
    checkAt = Math.min(checkAt, deadline);
  }
  return { kind: "healthy", checkAt };
}

/** The end of the worker's allowed silence, and the description of a longer silence. */
function silenceLimitOf(worker: WorkerRecord, timings: ServiceTimings): { deadline: number; reason: string } {
  if (worker.returnDeadline !== undefined) {
    const reason = `did not return within ${inSeconds(timings.returnGrace)} of the service's start`;
    return { deadline: worker.returnDeadline, reason };
  }
  if (worker.stage === "preparing") return { deadline: Number.POSITIVE_INFINITY, reason: "is not ready" };
  if (worker.stage === "starting") {
    return {
      deadline: worker.startedAt + timings.startLimit,
      reason:
        worker.mode === "http"
          ? `was not healthy within ${inSeconds(timings.startLimit)} of its start`
          : `did not request a job within ${inSeconds(timings.startLimit)} of its start`,
    };
  }
  if (isBusy(worker) || worker.openPolls > 0) {
    // A worker without pings can be checked only by its process; the job's timeout limits the job.
    return {
      deadline: worker.hasPinged ? worker.lastSeenAt + timings.pingSilence : Number.POSITIVE_INFINITY,
      reason: `sent no calls for ${inSeconds(timings.pingSilence)}`,
    };
  }
  return {
    deadline: worker.lastReadyAt + timings.takeSilence,
    reason:
      worker.mode === "http"
        ? `was unhealthy for ${inSeconds(timings.takeSilence)}`
        : `did not request a job for ${inSeconds(timings.takeSilence)}`,
  };
}

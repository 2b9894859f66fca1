import type { JobTimings } from "../jobs/timings";
import { isBusy, type Worker } from "./registry";

/** Result of a worker check. `reviewAt` is the time at which the result may change, ms since the epoch. */
export type WorkerCheck =
  | { kind: "healthy"; reviewAt: number }
  /** The worker continues a job after the request to stop it. */
  | { kind: "hung"; reason: string }
  /** The worker has stopped calling, or never called. */
  | { kind: "lost"; reason: string };

const inSeconds = (ms: number): string => `${ms / 1000} s`;

/** Checks a worker by its last calls. Sets `silentSince` when silence is first detected. */
export function checkWorker(worker: Worker, now: number, timings: JobTimings): WorkerCheck {
  const stopCheck = checkStops(worker, now, timings);
  if (stopCheck.kind !== "healthy") return stopCheck;
  const silenceLimit = silenceLimitOf(worker, timings);
  if (now < silenceLimit.deadline) {
    worker.silentSince = undefined;
    return { kind: "healthy", reviewAt: Math.min(stopCheck.reviewAt, silenceLimit.deadline) };
  }
  // A single late check proves nothing: the machine, and with it the worker, may have been suspended.
  worker.silentSince ??= now;
  const deadline = worker.silentSince + timings.secondLook;
  if (now < deadline) return { kind: "healthy", reviewAt: Math.min(stopCheck.reviewAt, deadline) };
  return { kind: "lost", reason: silenceLimit.reason };
}

function checkStops(worker: Worker, now: number, timings: JobTimings): WorkerCheck {
  let reviewAt = Number.POSITIVE_INFINITY;
  // A worker that has not returned yet has received no request to stop.
  if (worker.returnDeadline !== undefined) return { kind: "healthy", reviewAt };
  for (const [jobId, { since }] of worker.stopping) {
    const deadline = since + timings.stopGrace;
    if (now >= deadline) {
      return {
        kind: "hung",
        reason: `continued job ${jobId} for ${inSeconds(timings.stopGrace)} after the request to stop it`,
      };
    }
    reviewAt = Math.min(reviewAt, deadline);
  }
  return { kind: "healthy", reviewAt };
}

/** The end of the worker's allowed silence, and the description of a longer silence. */
function silenceLimitOf(worker: Worker, timings: JobTimings): { deadline: number; reason: string } {
  if (worker.returnDeadline !== undefined) {
    const reason = `did not return within ${inSeconds(timings.returnGrace)} of the service's start`;
    return { deadline: worker.returnDeadline, reason };
  }
  if (worker.preparing) return { deadline: Number.POSITIVE_INFINITY, reason: "is not ready" };
  if (worker.firstTakeAt === undefined) {
    return {
      deadline: worker.startedAt + timings.startLimit,
      reason:
        worker.workload === "requests"
          ? `was not healthy within ${inSeconds(timings.startLimit)} of its start`
          : `did not request a job within ${inSeconds(timings.startLimit)} of its start`,
    };
  }
  if (isBusy(worker) || worker.openTakes > 0) {
    // A worker without pings can be checked only by its process; the job's timeout limits the job.
    return {
      deadline: worker.hasPinged ? worker.lastSeenAt + timings.pingSilence : Number.POSITIVE_INFINITY,
      reason: `sent no calls for ${inSeconds(timings.pingSilence)}`,
    };
  }
  return {
    deadline: worker.lastTakeAt + timings.takeSilence,
    reason:
      worker.workload === "requests"
        ? `was unhealthy for ${inSeconds(timings.takeSilence)}`
        : `did not request a job for ${inSeconds(timings.takeSilence)}`,
  };
}

import type { JobTimings } from "../jobs/timings";
import { isBusy, type Worker } from "./registry";

/** Result of a check of a worker. `lookAt`: time at which the result can change, ms since the epoch. */
export type Verdict =
  | { kind: "fine"; lookAt: number }
  /** It continues a job after the request to stop it. */
  | { kind: "hung"; why: string }
  /** It does not answer any more, or never did. */
  | { kind: "lost"; why: string };

const seconds = (ms: number): string => `${ms / 1000} s`;

/** Checks a worker by its last calls. Records in the worker when its silence was first noticed. */
export function judge(worker: Worker, now: number, timings: JobTimings): Verdict {
  const hung = hungVerdict(worker, now, timings);
  if (hung.kind !== "fine") return hung;
  const silence = silenceOf(worker, timings);
  if (now < silence.until) {
    worker.suspectSince = undefined;
    return { kind: "fine", lookAt: Math.min(hung.lookAt, silence.until) };
  }
  // One late look proves nothing: the machine may have been suspended, and the worker with it.
  worker.suspectSince ??= now;
  const until = worker.suspectSince + timings.secondLook;
  if (now < until) return { kind: "fine", lookAt: Math.min(hung.lookAt, until) };
  return { kind: "lost", why: silence.why };
}

function hungVerdict(worker: Worker, now: number, timings: JobTimings): Verdict {
  let lookAt = Number.POSITIVE_INFINITY;
  // A worker that has not returned yet received no request to stop.
  if (worker.awaitedUntil !== undefined) return { kind: "fine", lookAt };
  for (const [jobId, { since }] of worker.stopping) {
    const until = since + timings.stopGrace;
    if (now >= until) {
      return {
        kind: "hung",
        why: `went on with job ${jobId} for ${seconds(timings.stopGrace)} after it was asked to stop`,
      };
    }
    lookAt = Math.min(lookAt, until);
  }
  return { kind: "fine", lookAt };
}

/** End of the worker's normal silence, and the description of a longer one. */
function silenceOf(worker: Worker, timings: JobTimings): { until: number; why: string } {
  if (worker.awaitedUntil !== undefined) {
    const why = `did not come back within ${seconds(timings.returnGrace)} of the service's start`;
    return { until: worker.awaitedUntil, why };
  }
  if (worker.preparing) return { until: Number.POSITIVE_INFINITY, why: "is not ready" };
  if (worker.firstAskAt === undefined) {
    return {
      until: worker.startedAt + timings.startLimit,
      why:
        worker.serves === "requests"
          ? `was not healthy within ${seconds(timings.startLimit)} of its start`
          : `did not ask for a job within ${seconds(timings.startLimit)} of its start`,
    };
  }
  if (isBusy(worker) || worker.asking > 0) {
    // A worker that never pings can only be known by its process; the job's time-out guards the job.
    return {
      until: worker.pinged ? worker.lastSeenAt + timings.pingSilence : Number.POSITIVE_INFINITY,
      why: `was not heard of for ${seconds(timings.pingSilence)}`,
    };
  }
  return {
    until: worker.lastAskAt + timings.takeSilence,
    why:
      worker.serves === "requests"
        ? `was unhealthy for ${seconds(timings.takeSilence)}`
        : `did not ask for a job for ${seconds(timings.takeSilence)}`,
  };
}

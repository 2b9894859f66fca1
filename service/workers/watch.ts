import type { JobTimings } from "../jobs/timings";
import { isBusy, type Worker } from "./registry";

/** Result of a worker check. `reviewAt` is the time at which the result may change, ms since the epoch. */
export type Verdict =
  | { kind: "fine"; reviewAt: number }
  /** The worker continues a job after the request to stop it. */
  | { kind: "hung"; why: string }
  /** The worker has stopped calling, or never called. */
  | { kind: "lost"; why: string };

const seconds = (ms: number): string => `${ms / 1000} s`;

/** Checks a worker by its last calls. Sets `suspectSince` when silence is first detected. */
export function judge(worker: Worker, now: number, timings: JobTimings): Verdict {
  const hung = hungVerdict(worker, now, timings);
  if (hung.kind !== "fine") return hung;
  const silence = silenceOf(worker, timings);
  if (now < silence.until) {
    worker.suspectSince = undefined;
    return { kind: "fine", reviewAt: Math.min(hung.reviewAt, silence.until) };
  }
  // A single late check proves nothing: the machine, and with it the worker, may have been suspended.
  worker.suspectSince ??= now;
  const until = worker.suspectSince + timings.secondLook;
  if (now < until) return { kind: "fine", reviewAt: Math.min(hung.reviewAt, until) };
  return { kind: "lost", why: silence.why };
}

function hungVerdict(worker: Worker, now: number, timings: JobTimings): Verdict {
  let reviewAt = Number.POSITIVE_INFINITY;
  // A worker that has not returned yet has received no request to stop.
  if (worker.awaitedUntil !== undefined) return { kind: "fine", reviewAt };
  for (const [jobId, { since }] of worker.stopping) {
    const until = since + timings.stopGrace;
    if (now >= until) {
      return {
        kind: "hung",
        why: `continued job ${jobId} for ${seconds(timings.stopGrace)} after the request to stop it`,
      };
    }
    reviewAt = Math.min(reviewAt, until);
  }
  return { kind: "fine", reviewAt };
}

/** The end of the worker's allowed silence, and the description of a longer silence. */
function silenceOf(worker: Worker, timings: JobTimings): { until: number; why: string } {
  if (worker.awaitedUntil !== undefined) {
    const why = `did not return within ${seconds(timings.returnGrace)} of the service's start`;
    return { until: worker.awaitedUntil, why };
  }
  if (worker.preparing) return { until: Number.POSITIVE_INFINITY, why: "is not ready" };
  if (worker.firstTakeAt === undefined) {
    return {
      until: worker.startedAt + timings.startLimit,
      why:
        worker.serves === "requests"
          ? `was not healthy within ${seconds(timings.startLimit)} of its start`
          : `did not request a job within ${seconds(timings.startLimit)} of its start`,
    };
  }
  if (isBusy(worker) || worker.openTakes > 0) {
    // A worker without pings can be checked only by its process; the job's timeout limits the job.
    return {
      until: worker.pinged ? worker.lastSeenAt + timings.pingSilence : Number.POSITIVE_INFINITY,
      why: `sent no calls for ${seconds(timings.pingSilence)}`,
    };
  }
  return {
    until: worker.lastTakeAt + timings.takeSilence,
    why:
      worker.serves === "requests"
        ? `was unhealthy for ${seconds(timings.takeSilence)}`
        : `did not request a job for ${seconds(timings.takeSilence)}`,
  };
}

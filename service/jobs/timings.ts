import { limits, showValue } from "serverless-compute-api/shapes";
import { StartError } from "../errors";

/** Waits of the job path that no client sets, in milliseconds. Tests take shorter ones. */
export interface JobTimings {
  /** How long an empty job-take is held; workers give up after 90 s. */
  takeHold: number;
  /** How long an empty job-stop is held. */
  stopHold: number;
  /** How long an empty /stream is held: about 10 s, and below the 10 s after which the Python client gives up. */
  streamHold: number;
  /** How often workers are told to ping. */
  pingInterval: number;
  /** A worker that pinged before and is silent for so long is lost. */
  pingSilence: number;
  /** A worker without a job that asks for none for so long is lost; one that never asked is unhealthy. */
  takeSilence: number;
  /** A worker that has not asked for its first job after so long is stopped. */
  startLimit: number;
  /** How long after a start the jobs of workers elsewhere stay theirs, for them to come back. */
  returnGrace: number;
  /** Silence counts only when it is still there so much later: a suspended machine wakes up with late workers. */
  secondLook: number;
  /** From the request to stop a job to the end of a worker that goes on with it. */
  stopGrace: number;
  /** From SIGTERM to SIGKILL. */
  killGrace: number;
  /** A worker that says it has no job so long after it got one has lost it. */
  lostJob: number;
  /** Wait before a worker is started again after one that failed, doubled with each failure up to `startBackoffMax`. */
  startBackoff: number;
  startBackoffMax: number;
  /** A worker of a new version that waits for a job for so long is as good as one that completed one: old workers may go. */
  rolloutPause: number;
  /** How long a webhook's receiver may take to answer. */
  webhookAnswer: number;
  /** Wait between two attempts of a webhook. */
  webhookDelay: number;
  /** How long a request may take to come in, head and body. */
  requestLimit: number;
  /** How long the result of a `/run` job is kept after its end. */
  runRetention: number;
  /** How long the result of a `/runsync` or `/openai` job is kept after its end; the interface allows 5 minutes at most. */
  runsyncRetention: number;
  /** How often jobs whose time is over are deleted; clients see none of them in the meantime. */
  sweep: number;
}

export const defaultTimings: JobTimings = {
  takeHold: 20_000,
  stopHold: 20_000,
  streamHold: 9_000,
  pingInterval: 2_000,
  pingSilence: 30_000,
  takeSilence: 60_000,
  startLimit: 420_000,
  returnGrace: 30_000,
  secondLook: 3_000,
  stopGrace: 5_000,
  killGrace: 3_000,
  lostJob: 10_000,
  startBackoff: 250,
  startBackoffMax: 30_000,
  rolloutPause: 1_000,
  webhookAnswer: 10_000,
  webhookDelay: limits.webhook.delay,
  requestLimit: 120_000,
  runRetention: limits.retention.run,
  runsyncRetention: limits.retention.runsync,
  sweep: 1_000,
};

/** The longest wait: a week. Timers hold little more than three. Results of `/runsync` are kept 5 minutes at most. */
const longest = (wait: string): number =>
  wait === "runsyncRetention" ? limits.retention.runsyncMax : 7 * 24 * 3600 * 1000;

/** All waits, those that are not given at their defaults; throws a StartError that names a wrong one, and what is allowed. */
export function resolveTimings(given: Partial<JobTimings>): JobTimings {
  for (const [name, value] of Object.entries(given)) {
    if (!(name in defaultTimings))
      throw new StartError(`timings.${name}: is no wait, there are ${Object.keys(defaultTimings).join(", ")}`);
    if (!Number.isSafeInteger(value) || value < 1 || value > longest(name)) {
      const allowed = `must be a whole number of milliseconds from 1 to ${longest(name)}`;
      throw new StartError(`timings.${name}: ${showValue(value)} is not allowed, ${allowed}`);
    }
  }
  return { ...defaultTimings, ...given };
}

/** Crashes of a job's worker after which it is queued again; the next one fails it. */
export const crashLimit = 2;

/** How long it takes until what the store could not keep is tried again, ms. */
export const storePause = 1000;

/** Workers in a row that end before they ask for a job, after which the waiting jobs fail. */
export const startFailureLimit = 3;

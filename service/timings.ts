import { limits, showValue } from "serverless-compute-api/shapes";
import { StartError } from "./errors";

/** Internal timings of the service, ms. Tests use shorter timings. */
export interface ServiceTimings {
  /** Hold time of a worker's job-take or job-stop without jobs; workers time out after 90 s. */
  pollHold: number;
  /** Hold time of a /stream without chunks: just below 10 s, the timeout of the Python client. */
  streamHold: number;
  /** Ping interval of workers. */
  pingInterval: number;
  /** Time without pings after which a worker that has pinged is considered lost. */
  pingSilence: number;
  /** Time without a job-take after which an idle worker is considered lost, or unhealthy if it has never sent one. */
  takeSilence: number;
  /** Time without a first job-take after which a worker is stopped. */
  startLimit: number;
  /** Time after a service start within which external workers can resume their jobs. */
  returnGrace: number;
  /** Delay before a silent worker is checked again, because workers are late after the machine was suspended. */
  secondLook: number;
  /** Time from the request to stop a job to the stop of its worker. */
  stopGrace: number;
  /** Time from SIGTERM to SIGKILL. */
  killGrace: number;
  /** Time after a job's start after which a worker that reports no job is considered to have lost it. */
  lostJob: number;
  /** Backoff before a worker is restarted after a failure; doubles with each failure up to `startBackoffMax`. */
  startBackoff: number;
  startBackoffMax: number;
  /** Idle time after which a worker of a new version counts as healthy, so that old workers may stop. */
  rolloutPause: number;
  /** Interval between health checks of a load balancer's worker. */
  healthInterval: number;
  /** Maximum time that a request to a load balancer waits for a worker. */
  requestWait: number;
  /** Maximum duration of a load balancer request at a worker, and of a WebSocket. */
  requestProcessing: number;
  /** Response timeout of a webhook delivery. */
  webhookAnswer: number;
  /** Wait between two webhook attempts. */
  webhookDelay: number;
  /** Maximum time to receive a request's head and body. */
  requestLimit: number;
  /** Retention of a `/run` job's result after its end. */
  runRetention: number;
  /** Retention of the result of a `/runsync` or `/openai` job after its end; at most 5 minutes (interface). */
  runsyncRetention: number;
  /** Interval at which expired jobs are deleted; clients do not see expired jobs. */
  sweep: number;
}

export const defaultTimings: ServiceTimings = {
  pollHold: 20_000,
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
  healthInterval: 500,
  requestWait: limits.loadBalancerWait,
  requestProcessing: limits.loadBalancerProcessing,
  webhookAnswer: 10_000,
  webhookDelay: limits.webhook.delay,
  requestLimit: 120_000,
  runRetention: limits.retention.run,
  runsyncRetention: limits.retention.runsync,
  sweep: 1_000,
};

/** Upper bound of a timing, ms: one week, because Node's timers overflow after 24.8 days; 5 minutes for `runsyncRetention`. */
const maxOf = (name: string): number =>
  name === "runsyncRetention" ? limits.retention.runsyncMax : 7 * 24 * 3600 * 1000;

/** Fills in defaults; throws a StartError that names an invalid timing and the allowed values. */
export function resolveTimings(overrides: Partial<ServiceTimings>): ServiceTimings {
  for (const [name, value] of Object.entries(overrides)) {
    if (!(name in defaultTimings))
      throw new StartError(`timings.${name}: unknown timing; must be one of ${Object.keys(defaultTimings).join(", ")}`);
    if (!Number.isSafeInteger(value) || value < 1 || value > maxOf(name)) {
      const allowed = `must be a whole number of milliseconds from 1 to ${maxOf(name)}`;
      throw new StartError(`timings.${name}: ${showValue(value)} is not allowed; ${allowed}`);
    }
  }
  return { ...defaultTimings, ...overrides };
}

/** Number of worker crashes after which a job is still requeued; the next crash fails it. */
export const crashLimit = 2;

/** Delay before a failed write to the store is retried, ms. */
export const storePause = 1000;

/** Number of consecutive workers that end before their first job-take, after which the queued jobs fail. */
export const startFailureLimit = 3;

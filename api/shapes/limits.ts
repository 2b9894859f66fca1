const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const megabyte = 1024 * 1024;

/**
 * Form of an object's id. It has a character besides dots and spaces, because URL normalization removes `..`, and no lone surrogate, which
 * no address can contain.
 */
export const idPattern = /^(?=\P{Surrogate}*$).*[^\s.]/su;

/** Bounds of the service (interface: Limits). Times in milliseconds, sizes in bytes unless the name contains another unit. */
export const limits = {
  /** Maximum of numbers without a smaller bound: that of GraphQL's Int. */
  number: 2 ** 31 - 1,
  /** Maximum length of an object's name, in characters. */
  nameLength: 191,
  /** Maximum length of an image name with tag and digest, in characters; more than registries accept. */
  imageNameLength: 1024,
  /** Default size of a container disk, GB. */
  containerDiskDefault: 50,
  runsyncPayload: 20 * megabyte,
  runPayload: 10 * megabyte,
  streamChunk: megabyte,
  /** Maximum body of a request to a load balancing endpoint and of its response. */
  loadBalancerPayload: 30 * megabyte,
  /** Maximum wait of a request to a load balancing endpoint for a worker. */
  loadBalancerWait: 2 * minute,
  /** Maximum processing time of such a request at a worker. */
  loadBalancerProcessing: 5.5 * minute,
  runsyncWait: { min: second, max: 300 * second, default: 90 * second },
  executionTimeout: { min: 5 * second, max: 7 * day, default: 10 * minute },
  ttl: { min: 10 * second, max: 7 * day, default: day },
  retention: { run: 30 * minute, runsync: minute, runsyncMax: 5 * minute },
  webhook: { attempts: 3, delay: 10 * second },
  templateRelease: 2 * minute,
  /** Maximum number of past lines of a worker's log in REST v2. */
  logTail: 5000,
} as const;

/** Job operations with separate rate limits. */
export type LimitedOperation =
  | "runsync"
  | "run"
  | "status"
  | "stream"
  | "cancel"
  | "purge-queue"
  | "openai"
  | "requests";

/** Base limits per endpoint and operation: `requests` per `rateWindow`, and `concurrent` requests. */
export const rateLimits: Record<LimitedOperation, { requests: number; concurrent: number | undefined }> = {
  runsync: { requests: 2000, concurrent: 400 },
  run: { requests: 1000, concurrent: 200 },
  status: { requests: 2000, concurrent: 400 },
  stream: { requests: 2000, concurrent: 400 },
  cancel: { requests: 100, concurrent: 20 },
  "purge-queue": { requests: 2, concurrent: undefined },
  openai: { requests: 2000, concurrent: 400 },
  requests: { requests: 10, concurrent: 2 },
};

/** Defaults of the clients; times in ms. `attemptTimeout` applies to one attempt, `callTimeout` to a call with all attempts. */
export const clientDefaults = { attemptTimeout: 30 * second, callTimeout: 2 * minute, maxInFlight: 16 } as const;

/**
 * Visibility of a new job, which the service may not find for some seconds after its submission (PyPI runpod 2.0.0rc2: 7 attempts within
 * about 30 s): the maximum delay, and the waits between the attempts of a call, ms.
 */
export const jobVisibility = { maxDelay: 30 * second, waits: [500, 1000, 2000, 4000, 8000, 16_000] } as const;

/** The window of rate limits, ms. */
export const rateWindow = 10 * second;

/** The reference to a secret in a template's env, which is replaced by the value when a worker starts. */
export const secretReference = (name: string): string => `{{ RUNPOD_SECRET_${name} }}`;

import { z } from "zod";
import { limits } from "./limits";
import { listOf, orUndefined, recordId } from "./record-values";

/** States of a job (interface: States and transitions). */
export const jobStatus = z.enum(["IN_QUEUE", "IN_PROGRESS", "COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"]);
export type JobStatus = z.output<typeof jobStatus>;

/** Final states, which a job leaves only by /retry or removal. */
export const finalStatus = jobStatus.exclude(["IN_QUEUE", "IN_PROGRESS"]);
type FinalStatus = z.output<typeof finalStatus>;

/** Returns whether a state is final. */
export const isFinal = (status: JobStatus): status is FinalStatus => finalStatus.safeParse(status).success;

/** The policy of a submission (interface: policy fields); times in ms. */
export const jobPolicy = z.strictObject({
  executionTimeout: z
    .int()
    .min(limits.executionTimeout.min)
    .max(limits.executionTimeout.max)
    .describe(
      "Execution timeout in milliseconds, from the start at a worker; defaults to the `executionTimeoutMs` of the endpoint, or 600000.",
    )
    .optional(),
  lowPriority: z.boolean().describe("True for a job that does not start workers.").optional(),
  ttl: z
    .int()
    .min(limits.ttl.min)
    .max(limits.ttl.max)
    .describe("Milliseconds from submission to removal, including queue and execution; 86400000 if absent.")
    .optional(),
});

/** The input of a handler: any JSON object. */
export const jobInput = z.record(z.string(), z.unknown());

/** The address that the service notifies of the end of a job (interface: Events). */
export const jobWebhook = z
  .url({ protocol: /^https?$/, error: "an address that begins with http:// or https://" })
  .max(8192);

/** The storage settings of a submission, for the worker's code (interface: s3Config fields). */
export const jobS3Config = z
  .strictObject({
    accessId: z.string().describe("Id of the access key."),
    accessSecret: z.string().describe("Secret of the access key."),
    bucketName: z.string().describe("Name of the bucket."),
    endpointUrl: z.string().describe("Address of the S3-compatible storage."),
  })
  .partial();

/** Body of /run and /runsync. */
export const jobSubmission = z.lazy(() =>
  z.looseObject({
    input: jobInput,
    webhook: jobWebhook.optional(),
    policy: jobPolicy.optional(),
    // Clients send additional fields, such as an object path, which the worker's code reads.
    s3Config: jobS3Config.loose().optional(),
  }),
);
export type JobSubmission = z.input<typeof jobSubmission>;

/** The response of /run, /runsync, /status, /cancel and /retry; times in ms. */
export const jobRecord = z.lazy(() =>
  z.looseObject({
    id: recordId,
    status: jobStatus,
    delayTime: orUndefined(z.number()).optional(),
    executionTime: orUndefined(z.number()).optional(),
    /** The job's worker, if the service reports it. */
    workerId: z.string().optional().catch(undefined),
    output: z.unknown().optional(),
    error: z.unknown().optional(),
  }),
);
export type JobRecord = z.output<typeof jobRecord>;

/** A stream element with a value yielded by the handler. */
const streamChunk = z.lazy(() => z.looseObject({ output: z.unknown() }));

/** Both shapes of /stream: the bare array of the interface, and the envelope expected by the SDKs. */
export const streamResponse = z.lazy(() =>
  z.union([
    z.array(streamChunk).transform((stream) => ({ status: undefined, stream })),
    z.looseObject({ status: jobStatus, stream: listOf(streamChunk) }),
  ]),
);

/** The response of /purge-queue. */
export const purgeResponse = z.lazy(() => z.looseObject({ removed: z.int() }));

const counter = (text: string) => z.int().default(0).describe(text);
/** The response of /health. */
export const endpointHealth = z.lazy(() =>
  z.looseObject({
    jobs: z
      .looseObject({
        completed: counter("Completed jobs."),
        failed: counter("Failed and timed-out jobs."),
        inProgress: counter("Running jobs."),
        inQueue: counter("Queued jobs."),
        retried: counter("Requeued jobs."),
      })
      .describe("Jobs of the endpoint by state."),
    workers: z
      .looseObject({
        idle: counter("Idle workers."),
        running: counter("Workers that run jobs."),
        initializing: counter("Starting workers."),
        ready: counter("Idle workers with an open request for a job."),
        throttled: counter("Workers that the service cannot start yet."),
        unhealthy: counter("Workers that failed to start or report a fault."),
      })
      .describe("Workers of the endpoint by state."),
  }),
);
export type EndpointHealth = z.output<typeof endpointHealth>;

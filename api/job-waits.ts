import { type Clock, elapsedTime } from "./clock";
import type { CallOptions } from "./management";
import { createRedaction } from "./redaction";
import { isFinal, type JobRecord, type JobStatus } from "./shapes";

/** Options of an iteration over a job's stream. `signal` is its only time limit. */
export type JobStreamOptions = Pick<CallOptions, "signal" | "secrets">;

/** Options of a wait for a job's end. `signal` is its only time limit. */
export interface JobWaitOptions extends JobStreamOptions {
  /** Called with the job's record after each poll, including the last. */
  onProgress?: ((job: JobRecord) => void) | undefined;
}

/** Error for a streamed job that ended FAILED, CANCELLED or TIMED_OUT. Its message contains the reason, if the service reports one. */
export class JobFailed extends Error {
  override readonly name = "JobFailed";
  constructor(
    readonly jobId: string,
    readonly status: JobStatus,
    reason: string,
  ) {
    super(`job ${jobId} ${status}${reason && `: ${reason}`}`);
  }
}

/** Options of reads that are repeated during an outage. */
interface OutageOptions {
  signal?: AbortSignal | undefined;
  /** Called after the first failed read of an outage. */
  onOutage?: (() => void) | undefined;
}

/** Interval between polls of a job after `elapsed` ms: a twentieth of this time, from 250 ms to 2 s. */
const pollInterval = (elapsed: number): number => Math.min(Math.max(250, elapsed / 20), 2000);

/** Time for which failed reads of a job are repeated: time for the service to restart, ms. */
export const maxOutage = 30_000;

/** Wait between failed reads, ms. */
const outageInterval = 1_000;

/** Returns whether a read may succeed later: `retryable` of the error, or of its cause, which commands wrap in an error for users. */
const mayEnd = (error: unknown): boolean =>
  error instanceof Error && ("retryable" in error ? error.retryable === true : mayEnd(error.cause));

/**
 * Reads the state of work that continues during an outage of the service: a failed read that may succeed later is repeated for up to 30 s,
 * or `timeLimit` ms if that is shorter.
 */
export async function readDespiteOutage<Data>(
  read: () => Promise<Data>,
  clock: Clock,
  { signal, timeLimit = maxOutage, onOutage }: OutageOptions & { timeLimit?: number } = {},
): Promise<Data> {
  const end = elapsedTime(clock) + Math.min(maxOutage, timeLimit);
  for (let failures = 0; ; failures++) {
    try {
      return await read();
    } catch (error) {
      const remaining = end - elapsedTime(clock);
      if (!mayEnd(error) || remaining <= 0) throw error;
      if (failures === 0) onOutage?.();
      await clock.sleep(Math.min(outageInterval, remaining), signal);
    }
  }
}

/** Polls a job until its state is final; resolves with its last record. */
export async function waitUntilFinal(
  readJob: () => Promise<JobRecord>,
  clock: Clock,
  { signal, onProgress, onOutage }: JobWaitOptions & OutageOptions = {},
): Promise<JobRecord> {
  const startTime = elapsedTime(clock);
  for (;;) {
    const job = await readDespiteOutage(readJob, clock, { signal, onOutage });
    onProgress?.(job);
    if (isFinal(job.status)) return job;
    await clock.sleep(pollInterval(elapsedTime(clock) - startTime), signal);
  }
}

/** Yields a job's outputs until its state is final and all are read. Throws a JobFailed if the job did not complete. */
export async function* streamUntilFinal<Output>(
  readOutputs: () => Promise<Output[]>,
  readJob: () => Promise<JobRecord>,
  clock: Clock,
  { signal, secrets = [], onOutage }: JobStreamOptions & OutageOptions = {},
): AsyncGenerator<Output, void, undefined> {
  const startTime = elapsedTime(clock);
  let job: JobRecord | undefined;
  for (;;) {
    const readTime = elapsedTime(clock);
    const outputs = await readDespiteOutage(readOutputs, clock, { signal, onOutage });
    yield* outputs;
    if (outputs.length > 0) continue;
    if (job && isFinal(job.status)) break;
    job = await readDespiteOutage(readJob, clock, { signal, onOutage });
    // Chunks may have arrived since the read, so the stream is read again.
    if (isFinal(job.status)) continue;
    // The service usually holds a read without new chunks for longer than the interval.
    const now = elapsedTime(clock);
    const wait = pollInterval(now - startTime) - (now - readTime);
    if (wait > 0) await clock.sleep(wait, signal);
  }
  if (job.status !== "COMPLETED") throw new JobFailed(job.id, job.status, createRedaction(secrets)(reasonOf(job)));
}

/** Text of a job's error; empty if it has none. */
function reasonOf({ error }: JobRecord): string {
  const reason = error ?? "";
  return typeof reason === "string" ? reason : JSON.stringify(reason);
}

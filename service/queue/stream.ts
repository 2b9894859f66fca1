import { memberTexts } from "serverless-compute-api/json-text";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { deferred } from "../deferred";
import { ServiceError } from "../errors";
import { ShortLivedMap } from "../short-lived-map";
import type { SteadyClock } from "../steady-clock";
import type { Database } from "../store/database";
import type { GroupCommit } from "../store/group-commit";
import type { JobEvents } from "./events";
import { isFinal, type Job, type JobWorker } from "./job";
import type { JobList } from "./list";
import type { ActiveJobs } from "./memory";
import type { PendingRequests } from "./pending-requests";
import type { JobStore } from "./store";

/** A yielded value and its metrics, as JSON texts. */
export interface YieldedChunk {
  output?: string | undefined;
  metrics?: string | undefined;
}

export type JobStream = ReturnType<typeof createJobStream>;

export interface StreamReading {
  job: Job;
  chunks: string[];
  /** True if the job is over and all chunks have been read. */
  done: boolean;
  /** Ends the read; if the response was lost, its chunks become unread again. */
  acknowledge(isDelivered: boolean): Promise<void>;
}

/** Maximum length of the chunks in one response, in characters. */
const maxResponseSize = 8 * 1024 * 1024;

/** Stream chunks of handlers, stored until a client reads them. Each chunk is delivered once. */
export function createJobStream({
  active,
  store,
  list,
  database: { afterCommit },
  groupCommit: { commit },
  events,
  pendingRequests,
  clock,
  maxWait,
}: {
  active: ActiveJobs;
  store: JobStore;
  list: Pick<JobList, "get">;
  database: Pick<Database, "afterCommit">;
  groupCommit: Pick<GroupCommit, "commit">;
  events: JobEvents;
  pendingRequests: Pick<PendingRequests, "waitForChange">;
  clock: SteadyClock;
  /** Maximum wait of a read, ms. */
  maxWait: number;
}) {
  /** Reads in progress, by job id; each promise resolves when the response has ended. */
  const pendingReads = new ShortLivedMap<string, Promise<void>>();

  return {
    /** Stores a yielded value in parts of at most 1 MB; returns false if the job is not assigned to the worker. */
    append: (jobId: string, worker: JobWorker, chunk: YieldedChunk): Promise<boolean> =>
      commit(() => {
        const job = active.runningAt(jobId, worker);
        if (!job) return false;
        const texts = chunkTexts(chunk, job.chunks);
        store.appendChunks(job.seq, job.chunks, texts);
        store.setChunks(job.seq, job.chunks + texts.length, job.chunksRead);
        const after = { ...job, chunks: job.chunks + texts.length };
        active.put(after);
        // The start may not have been stored. This marks the job as running, so that a kill requeues it without its chunks.
        if (job.chunks === 0) store.save(after);
        afterCommit(() => events.emit("streamed", after));
        return true;
      }, chunk.output?.length),

    /**
     * Reads the unread chunks, as JSON texts; without any, waits up to `waitTime` ms for a chunk while the job runs. Also waits until the
     * responses to other readers have been received or lost, so that chunks are delivered in order and once. The caller must call
     * `acknowledge`.
     */
    async read(
      find: () => Job | undefined,
      signal: AbortSignal,
      waitTime = maxWait,
    ): Promise<StreamReading | undefined> {
      const deadline = clock.now() + waitTime;
      const found = await waitForChunk(find, signal, waitTime);
      if (!found) return undefined;
      const { id } = found;
      for (let earlierRead = pendingReads.get(id); earlierRead; earlierRead = pendingReads.get(id)) {
        await waitUntilDeadline(earlierRead, deadline, signal);
        const job = find();
        if (!job) return undefined;
        if (clock.now() >= deadline || signal.aborted)
          return { job, chunks: [], done: false, acknowledge: () => Promise.resolve() };
      }
      const released = deferred();
      pendingReads.set(id, released.promise);
      const release = (): void => {
        pendingReads.delete(id);
        released.resolve();
      };
      const reading = await commit(() => readUnread(id)).catch((error: unknown) => {
        release();
        throw error;
      });
      if (!reading) {
        release();
        return undefined;
      }
      return {
        ...reading,
        async acknowledge(isDelivered) {
          try {
            if (!isDelivered) await commit(() => restoreUnread(reading.job));
          } finally {
            release();
          }
        },
      };
    },
  };

  function setRead(id: string, readCount: number): void {
    const job = list.get(id);
    if (!job || job.chunks === 0) return;
    const chunksRead = Math.min(readCount, job.chunks);
    store.setChunks(job.seq, job.chunks, chunksRead);
    if (!isFinal(job)) active.put({ ...job, chunksRead });
  }

  /** Marks the chunks of a lost response as unread, unless the job has been requeued since: its next run has other chunks. */
  function restoreUnread({ id, retries, chunksRead }: Job): void {
    if (list.get(id)?.retries === retries) setRead(id, chunksRead);
  }

  /** Returns the unread chunks that fit into a response, and marks them as read. */
  function readUnread(id: string): Omit<StreamReading, "acknowledge"> | undefined {
    const job = list.get(id);
    if (!job) return undefined;
    const chunks = store.chunks(job.seq, job.chunksRead, maxResponseSize);
    const readCount = job.chunksRead + chunks.length;
    setRead(id, readCount);
    return { job, chunks, done: isFinal(job) && readCount === job.chunks };
  }

  /** Waits for an unread chunk while the job runs; resolves with undefined if the job is removed. */
  async function waitForChunk(find: () => Job | undefined, signal: AbortSignal, ms: number): Promise<Job | undefined> {
    const job = find();
    if (!job || job.chunksRead < job.chunks || isFinal(job)) return job;
    await pendingRequests.waitForChange(job.id, ms, signal, true);
    return find();
  }

  async function waitUntilDeadline(earlierRead: Promise<void>, deadline: number, signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    void earlierRead.then(() => ended.abort());
    await clock.sleep(deadline - clock.now(), AbortSignal.any([signal, ended.signal])).catch(() => undefined);
  }
}

/**
 * Chunks of a yielded value. A value above 1 MB is split: strings into strings, other values into parts of their JSON text. Throws a
 * ServiceError `invalid` if the metrics, which each part repeats, leave no room for the parts.
 */
function chunkTexts({ output = "null", metrics }: YieldedChunk, first: number): string[] {
  const text = chunkText(output, { stream_index: first }, metrics);
  if (Buffer.byteLength(text) <= limits.streamChunk) return [text];
  const partSize = limits.streamChunk - Buffer.byteLength(metrics ?? "") - reservedSize;
  if (partSize < minPartSize)
    throw new ServiceError("invalid", "metrics: must leave half of a chunk of 1 MB to the output; send fewer metrics");
  const isText = output.startsWith('"');
  const parts = splitText(isText ? z.string().parse(JSON.parse(output)) : output, partSize);
  const encoding = isText ? {} : { encoding: "json" };
  return parts.map((part, index) => {
    const serviceMetrics = { stream_index: first + index, part: index + 1, parts: parts.length, ...encoding };
    return chunkText(JSON.stringify(part), serviceMetrics, metrics);
  });
}

/** A chunk's JSON: the service's metrics, then the worker's unchanged metrics, which override metrics of the same name. */
function chunkText(output: string, serviceMetrics: Record<string, unknown>, metrics: string | undefined): string {
  const workerMetrics = metrics === undefined ? undefined : memberTexts(metrics);
  const ownMetrics = Object.entries(serviceMetrics).filter(([name]) => !workerMetrics?.has(name));
  const metricTexts = [
    ...ownMetrics.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`),
    ...(workerMetrics?.size ? [metrics?.slice(1, -1)] : []),
  ];
  return `{"output":${output},"metrics":{${metricTexts.join(",")}}}`;
}

/** Size of a chunk without its part and the worker's metrics, bytes. */
const reservedSize = 1024;

/** Minimum size of a part, bytes; small parts would repeat large metrics many times. */
const minPartSize = limits.streamChunk / 2;

/** Splits a text into parts whose JSON has at most `maxPartSize` bytes, without splitting surrogate pairs. */
function splitText(text: string, maxPartSize: number): string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    let length = maxPartSize;
    while (Buffer.byteLength(JSON.stringify(text.slice(start, start + length))) > maxPartSize)
      length = Math.floor(length / 2);
    const lastCode = text.charCodeAt(start + length - 1);
    if (lastCode >= 0xd800 && lastCode <= 0xdbff) length--;
    parts.push(text.slice(start, start + length));
    start += length;
  }
  return parts;
}

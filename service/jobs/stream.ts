import type { Clock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { isObjectText, memberTexts } from "../json-text";
import { ShortLivedMap } from "../short-lived-map";
import type { GroupCommit } from "../store/group-commit";
import type { JobEvents } from "./events";
import { isOver, type Job } from "./job";
import type { LiveJobs } from "./live-jobs";
import type { JobRecords } from "./records";
import type { JobStore } from "./store";
import type { JobWaits } from "./waits";

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
}

export interface AcknowledgedReading extends StreamReading {
  /** Ends the read; if the response was lost, its chunks become unread again. */
  acknowledge(arrived: boolean): Promise<void>;
}

/** Maximum length of the chunks in one response, in characters. */
const responseSize = 8 * 1024 * 1024;

/** Stream chunks of handlers, stored until a client reads them. Each chunk is delivered once. */
export function createJobStream({
  live,
  store,
  records,
  groupCommit: { commit },
  events,
  waits,
  clock,
  hold,
}: {
  live: LiveJobs;
  store: JobStore;
  records: JobRecords;
  groupCommit: Pick<GroupCommit, "commit">;
  events: JobEvents;
  waits: Pick<JobWaits, "news">;
  clock: Clock;
  /** Maximum wait of a read, ms. */
  hold: number;
}) {
  /** Reads in progress, by job id; each promise resolves when the response has ended. */
  const inFlight = new ShortLivedMap<string, Promise<void>>();

  return {
    /** Stores a yielded value in parts of at most 1 MB; returns false if the job is not assigned to the worker. */
    async append(jobId: string, workerId: string, chunk: YieldedChunk): Promise<boolean> {
      const longer = await commit(
        () => {
          const job = records.runBy(jobId, workerId);
          if (!job) return undefined;
          const texts = chunkTexts(chunk, job.chunks);
          store.appendChunks(job.seq, job.chunks, texts);
          store.setChunks(job.seq, job.chunks + texts.length, job.chunksRead);
          const after = { ...job, chunks: job.chunks + texts.length };
          live.put(after);
          // The start may not have been stored. This marks the job as running, so that a kill requeues it without its chunks.
          if (job.chunks === 0) store.save(after);
          return after;
        },
        (job) => void (job && events.emit("streamed", job)),
        chunk.output?.length,
      );
      return longer !== undefined;
    },

    /** Reads the unread chunks, as JSON texts; without any, waits up to `longest` ms for a chunk while the job runs. */
    async read(
      find: () => Job | undefined,
      signal: AbortSignal,
      longest: number = hold,
    ): Promise<StreamReading | undefined> {
      const job = await news(find, signal, longest);
      return job && readingOf(await commit(() => readNow(job.id)));
    },

    /**
     * Like `read`, but for concurrent readers: waits until the responses to other readers have been received or lost, so that chunks are
     * delivered in order and once. The caller must call `acknowledge`.
     */
    async readInTurn(find: () => Job | undefined, signal: AbortSignal): Promise<AcknowledgedReading | undefined> {
      const until = clock.now() + hold;
      const found = await news(find, signal, hold);
      if (!found) return undefined;
      const { id } = found;
      for (let other = inFlight.get(id); other; other = inFlight.get(id)) {
        await soonerOf(other, until, signal);
        const job = find();
        if (!job) return undefined;
        if (clock.now() >= until || signal.aborted)
          return { job, chunks: [], done: false, acknowledge: () => Promise.resolve() };
      }
      let end = (): void => undefined;
      const over = new Promise<void>((resolve) => {
        end = resolve;
      });
      inFlight.set(id, over);
      const leave = (): void => {
        inFlight.delete(id);
        end();
      };
      const reading = await commit(() => readNow(id)).catch((error: unknown) => {
        leave();
        throw error;
      });
      if (!reading) {
        leave();
        return undefined;
      }
      return {
        ...readingOf(reading),
        async acknowledge(arrived) {
          try {
            if (!arrived) await commit(() => setRead(id, reading.job.chunksRead));
          } finally {
            leave();
          }
        },
      };
    },
  };

  function setRead(id: string, read: number): void {
    const job = records.get(id);
    if (!job || job.chunks === 0) return;
    const chunksRead = Math.min(read, job.chunks);
    store.setChunks(job.seq, job.chunks, chunksRead);
    if (!isOver(job)) live.put({ ...job, chunksRead });
  }

  /** Returns the unread chunks that fit into a response, and marks them as read. */
  function readNow(id: string): { job: Job; texts: string[] } | undefined {
    const job = records.get(id);
    if (!job || job.chunksRead === job.chunks) return job && { job, texts: [] };
    const texts = store.chunks(job.seq, job.chunksRead, responseSize);
    setRead(id, job.chunksRead + texts.length);
    return { job, texts };
  }

  /** Waits for an unread chunk while the job runs; resolves with undefined if the job is removed. */
  async function news(find: () => Job | undefined, signal: AbortSignal, ms: number): Promise<Job | undefined> {
    const job = find();
    if (!job || job.chunksRead < job.chunks || isOver(job)) return job;
    await waits.news(job.id, ms, signal, true);
    return find();
  }

  async function soonerOf(other: Promise<void>, until: number, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    const end = (): void => done.abort();
    signal.addEventListener("abort", end, { once: true });
    await Promise.race([other, clock.sleep(until - clock.now(), done.signal).catch(() => undefined)]);
    end();
    signal.removeEventListener("abort", end);
  }
}

const readingOf = <Found extends { job: Job; texts: string[] } | undefined>(found: Found) =>
  found && {
    job: found.job,
    chunks: found.texts,
    done: isOver(found.job) && found.job.chunksRead + found.texts.length === found.job.chunks,
  };

/** Chunks of a yielded value. A value above 1 MB is split: strings into strings, other values into parts of their JSON text. */
function chunkTexts({ output = "null", metrics }: YieldedChunk, first: number): string[] {
  const text = chunkText(output, { stream_index: first }, metrics);
  if (Buffer.byteLength(text) <= limits.streamChunk) return [text];
  const isText = output.startsWith('"');
  const parts = splitText(isText ? z.string().parse(JSON.parse(output)) : output);
  const encoding = isText ? {} : { encoding: "json" };
  return parts.map((part, at) => {
    const serviceMetrics = { stream_index: first + at, part: at + 1, parts: parts.length, ...encoding };
    return chunkText(JSON.stringify(part), serviceMetrics, metrics);
  });
}

/** A chunk's JSON: the service's metrics, then the worker's unchanged metrics, which override metrics of the same name. */
function chunkText(output: string, serviceMetrics: Record<string, unknown>, metrics: string | undefined): string {
  const measured = metrics !== undefined && isObjectText(metrics) ? memberTexts(metrics) : undefined;
  const ours = Object.entries(serviceMetrics).filter(([name]) => !measured?.has(name));
  const all = [
    ...ours.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`),
    ...(measured?.size ? [metrics?.slice(1, -1)] : []),
  ];
  return `{"output":${output},"metrics":{${all.join(",")}}}`;
}

/** Maximum size of a part, bytes; leaves room for JSON escapes and metrics. */
const partSize = limits.streamChunk - 16 * 1024;

/** Splits a text into parts whose JSON fits into a chunk, without splitting surrogate pairs. */
function splitText(text: string): string[] {
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    let length = Math.min(partSize, text.length - from);
    while (Buffer.byteLength(JSON.stringify(text.slice(from, from + length))) > partSize)
      length = Math.floor(length / 2);
    const last = text.charCodeAt(from + length - 1);
    const splitsPair = last >= 0xd800 && last <= 0xdbff && from + length < text.length;
    if (splitsPair) length--;
    parts.push(text.slice(from, from + length));
    from += length;
  }
  return parts;
}

import { limits } from "serverless-compute-api/shapes";
import type { JobChunkStore } from "../store/job-chunks";
import type { JobStore } from "../store/jobs";
import type { Committer } from "./commit";
import type { JobEvents } from "./events";
import { isOver, type Job } from "./job";
import type { JobTimings } from "./timings";
import type { JobWaiters } from "./waiters";

/** What handlers yield, kept until a client reads it; each chunk is answered once. */
export interface JobStream {
  /** Keeps what a worker yielded, in parts of at most 1 MB; false when the job is not that worker's any more. */
  append(jobId: string, workerId: string, chunk: { output?: unknown; metrics?: unknown }): Promise<boolean>;
  /** The chunks that nobody has read, as JSON texts; waits for one while the job runs and there is none. */
  read(find: () => Job | undefined, signal: AbortSignal): Promise<StreamReading | undefined>;
}

export interface StreamReading {
  job: Job;
  chunks: string[];
  /** Whether the job is over and nothing is left to read. */
  done: boolean;
  /** Makes the chunks unread again: their answer did not arrive. */
  putBack(): Promise<void>;
}

export interface StreamDeps {
  jobs: JobStore;
  chunks: JobChunkStore;
  committer: Committer;
  events: JobEvents;
  waiters: JobWaiters;
  timings: JobTimings;
  dueAt(job: Job): number;
}

/** Characters of chunks in one answer. */
const answerSize = 8 * 1024 * 1024;

export function createJobStream(deps: StreamDeps): JobStream {
  const { jobs, chunks, committer, events, waiters, timings, dueAt } = deps;

  const setRead = (jobId: string, chunksRead: number): void => {
    const job = jobs.find(jobId);
    if (job) jobs.save({ ...job, chunksRead: Math.min(chunksRead, job.chunks) }, dueAt(job));
  };

  function readNow(jobId: string): { job: Job; texts: string[] } | undefined {
    const job = jobs.find(jobId);
    if (!job) return undefined;
    if (job.chunksRead === job.chunks) return { job, texts: [] };
    const texts = chunks.from(jobId, job.chunksRead, answerSize);
    setRead(jobId, job.chunksRead + texts.length);
    return { job, texts };
  }

  return {
    async append(jobId, workerId, chunk) {
      const kept = await committer.commit(
        () => {
          const job = jobs.find(jobId);
          if (job?.status !== "IN_PROGRESS" || job.workerId !== workerId) return undefined;
          const parts = chunkTexts(chunk, job.chunks);
          for (const [at, text] of parts.entries()) chunks.append(jobId, job.chunks + at, text);
          const longer = { ...job, chunks: job.chunks + parts.length };
          jobs.save(longer, dueAt(longer));
          return longer;
        },
        (job) => void (job && events.emit("streamed", job)),
      );
      return kept !== undefined;
    },

    async read(find, signal) {
      const before = find();
      if (!before) return undefined;
      if (before.chunksRead === before.chunks && !isOver(before)) {
        await waiters.news(before.id, timings.streamHold, signal);
        if (!find()) return undefined;
      }
      const reading = await committer.commit(() => readNow(before.id));
      if (!reading) return undefined;
      const { job, texts } = reading;
      return {
        job,
        chunks: texts,
        done: isOver(job) && job.chunksRead + texts.length === job.chunks,
        putBack: () => committer.commit(() => setRead(job.id, job.chunksRead)),
      };
    },
  };
}

/** One yielded value as chunks: those above 1 MB are split, texts as texts, other values as parts of their JSON text. */
function chunkTexts({ output, metrics }: { output?: unknown; metrics?: unknown }, first: number): string[] {
  const measured = typeof metrics === "object" && metrics !== null ? metrics : {};
  const text = chunkText(output ?? null, { stream_index: first, ...measured });
  if (Buffer.byteLength(text) <= limits.streamChunk) return [text];
  const whole = typeof output === "string" ? output : JSON.stringify(output);
  const parts = splitText(whole);
  const encoding = typeof output === "string" ? {} : { encoding: "json" };
  return parts.map((part, at) =>
    chunkText(part, { stream_index: first + at, part: at + 1, parts: parts.length, ...encoding, ...measured }),
  );
}

const chunkText = (output: unknown, metrics: object): string => JSON.stringify({ output, metrics });

/** What escapes and metrics add is kept free. */
const partSize = limits.streamChunk - 16 * 1024;

/** Splits a text into parts whose JSON fits into a chunk, never inside a character. */
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

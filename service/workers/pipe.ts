import type { Duplex } from "node:stream";
import { JsonTextError, memberTexts } from "serverless-compute-api/json-text";
import { ServiceError } from "../errors";
import type { JobOutcome, RunningJob } from "../queue/job";
import type { JobStream } from "../queue/stream";
import type { Dispatcher } from "./dispatcher";
import { createLineSplitter } from "./line-splitter";
import { jobText, oversize, readResult, rejectedResult, resultLimit } from "./results";
import type { Worker } from "./worker";

/** Maximum number of chunks being written to the store: changes of other jobs wait behind them. */
const maxPendingChunks = 256;

/**
 * The service's end of the pipe to a Node worker (workers/runtimes/process/node-host.ts): an inherited socket pair with one JSON object per line. The
 * service writes jobs `{id, input, s3Config?}` and `{stop: id}`. The worker writes `{ready: true}` once, then `{id, chunk}`, and
 * `{id, output?, error?, stopPod?}` at the end of a job. When either process ends, the other receives the end of the stream.
 */
export function servePipe(
  pipe: Duplex,
  worker: Worker,
  {
    dispatcher,
    stream,
    onStoreError,
  }: {
    dispatcher: Pick<Dispatcher, "connect" | "finish">;
    stream: Pick<JobStream, "append">;
    /** Called if the store cannot save the worker's output. */
    onStoreError(error: unknown): void;
  },
): void {
  /** The chunks being written to the store, and their length in characters. */
  const pending = { chunks: 0, length: 0 };
  const isBehind = (): boolean => pending.length > resultLimit || pending.chunks > maxPendingChunks;
  let isReady = false;
  /** The worker's current job. It gets no second job, even if the handler itself writes to the pipe. */
  let current: RunningJob | undefined;
  const write = (line: string): void => void (pipe.writable && pipe.write(`${line}\n`));

  function handleLine(line: string): Promise<unknown> | undefined {
    const members = memberTexts(line);
    if (!members) throw new JsonTextError("must be a JSON object");
    if (members.has("ready")) return connect();
    if (!current || members.get("id") !== `"${current.id}"`) return undefined;
    const { id, operation } = current;
    const chunk = members.get("chunk");
    if (chunk !== undefined) return appendChunk(id, chunk);
    const result = readResult(members, operation);
    return finish(id, result, result.refresh);
  }

  function connect(): undefined {
    if (isReady) return;
    isReady = true;
    dispatcher.connect(worker, {
      send: (delivery) => {
        current = delivery.job;
        write(jobText(delivery));
      },
      stop: (jobId) => write(`{"stop":"${jobId}"}`),
    });
  }

  function finish(jobId: string, outcome: JobOutcome, refresh: boolean): Promise<void> {
    current = undefined;
    return dispatcher.finish(worker, jobId, outcome, refresh);
  }

  /** Stores a chunk. A worker that yields faster than the store writes must wait. */
  async function appendChunk(jobId: string, chunk: string): Promise<void> {
    pending.chunks++;
    pending.length += chunk.length;
    if (isBehind()) pipe.pause();
    try {
      await stream.append(jobId, worker, { output: chunk });
    } finally {
      pending.chunks--;
      pending.length -= chunk.length;
      if (!isBehind()) pipe.resume();
    }
  }

  /** Ends the worker and its job after an invalid message, because the worker's state is then unknown. */
  function rejectResult(reason: string): void {
    if (current) finish(current.id, rejectedResult(reason), true).catch(onStoreError);
  }

  function onLine(line: string): void {
    try {
      handleLine(line)?.catch(onStoreError);
    } catch (error) {
      if (error instanceof JsonTextError || error instanceof ServiceError) rejectResult(error.message);
      else onStoreError(error);
    }
  }

  const splitter = createLineSplitter(onLine, resultLimit, () => rejectResult(oversize(current?.operation)));
  pipe.setEncoding("utf8").on("data", splitter.add);
}

import { Socket } from "node:net";
import { pathToFileURL } from "node:url";
import { createLineSplitter } from "../../line-splitter";

/**
 * The program that runs a handler file. It receives jobs one at a time over an inherited pipe (workers/pipe.ts describes the lines) and
 * sends the handler's results. Every worker loads this program, so it imports as little as possible. The handler is the file's default
 * export, `(job: {id, input, signal}) => output`. A generator streams its values; an exception fails the job.
 */

interface HandlerJob {
  id: string;
  input: unknown;
  /** Aborts when the job is cancelled or its execution timeout passes. */
  signal: AbortSignal;
}
type Handler = (job: HandlerJob) => unknown;

const pipeDescriptor = 3;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** The values yielded by a handler; undefined for any other result, including strings and lists. */
function chunksOf(value: unknown): AsyncIterable<unknown> | Iterable<unknown> | undefined {
  const isAsyncIterable = (candidate: unknown): candidate is AsyncIterable<unknown> =>
    isObject(candidate) && Symbol.asyncIterator in candidate;
  const isIterator = (candidate: unknown): candidate is Iterable<unknown> =>
    isObject(candidate) && Symbol.iterator in candidate && "next" in candidate;
  return isAsyncIterable(value) || isIterator(value) ? value : undefined;
}

/** The outermost frames of a handler's stack: this file and, below it, Node. */
const ownFrames = /\n\s+at [^\n]*[\\/]node-host\.[jt]s:\d.*$/s;

/** Maximum number of nested causes in an error's text, because an error can be its own cause. */
const maxCauses = 5;

/** The error for an output or chunk that JSON cannot represent. */
class OutputError extends Error {}

/** The text of a thrown value that is not an Error; an object without its own text as JSON. */
function valueText(value: unknown): string {
  try {
    const text = String(value);
    return text === "[object Object]" ? (JSON.stringify(value) ?? text) : text;
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** Message and stack of an error and its causes, without frames of this file. */
function errorText(error: unknown, depth = 0): string {
  if (error instanceof OutputError) return error.message;
  if (!(error instanceof Error)) return valueText(error);
  const message = `${error.name}: ${error.message}`;
  const stack = error.stack?.replace(ownFrames, "") || message;
  const text = stack.includes(error.message) ? stack : `${message}\n${stack}`;
  const causes: unknown[] = error instanceof AggregateError ? error.errors : [error.cause];
  if (depth === maxCauses) return text;
  return [
    text,
    ...causes.filter((cause) => cause !== undefined).map((cause) => `caused by ${errorText(cause, depth + 1)}`),
  ].join("\n");
}

/** Writes a line; returns a promise if the caller must wait until the service has caught up. */
type Send = (line: string) => Promise<void> | undefined;

/** Rejects a number that JSON does not have; JSON.stringify replaces it by null. */
function rejectNonFinite(key: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`"${key}" is ${value}`);
  return value;
}

/** A line with the job's id and the members as JSON. Throws if a value cannot be serialized, such as a circular object. */
function lineOf(id: string, members: object): string {
  try {
    const text = JSON.stringify(members);
    if (text === "{}") throw new TypeError("it is a function, a symbol or an object without a JSON form");
    // Only a null may come from such a number, and a second pass with a function takes longer.
    if (text.includes("null")) JSON.stringify(members, rejectNonFinite);
    return `{"id":"${id}",${text.slice(1)}`;
  } catch (error) {
    throw new OutputError(`the handler's output is not a JSON value: ${errorText(error)}`);
  }
}

async function streamChunks(chunks: AsyncIterable<unknown> | Iterable<unknown>, job: HandlerJob, send: Send) {
  const output: unknown[] = [];
  for await (const chunk of chunks) {
    if (job.signal.aborted) break;
    output.push(chunk);
    await send(lineOf(job.id, { chunk: chunk ?? null }));
  }
  return { output };
}

/** Runs the handler; resolves with the members of the line that ends the job. */
async function runHandler(handler: Handler, job: HandlerJob, send: Send): Promise<object> {
  const pending = handler(job);
  const returned = pending instanceof Promise ? await pending : pending;
  const chunks = chunksOf(returned);
  if (chunks) return streamChunks(chunks, job, send);
  if (!isObject(returned) || Array.isArray(returned)) return { output: returned ?? null };
  const { error, refresh_worker: refresh, ...output } = returned;
  const stopMember = refresh ? { stopPod: true } : {};
  if (error !== undefined && error !== null) {
    const message = typeof error === "string" ? error : JSON.stringify(error);
    return { error: message, ...(Object.keys(output).length > 0 ? { output } : {}), ...stopMember };
  }
  return { output: refresh === undefined ? returned : output, ...stopMember };
}

async function runJob(handler: Handler, job: HandlerJob, send: Send): Promise<void> {
  let result = await runHandler(handler, job, send).catch((thrown: unknown): object => ({ error: errorText(thrown) }));
  let line: string;
  try {
    line = lineOf(job.id, result);
  } catch (error) {
    result = { error: errorText(error) };
    line = lineOf(job.id, result);
  }
  if ("error" in result) console.error(`job ${job.id} failed: ${result.error}`);
  await send(line);
}

function serve(handler: Handler, pipe: Socket): void {
  let current: { id: string; controller: AbortController } | undefined;

  const send: Send = (line) => {
    if (pipe.write(`${line}\n`)) return undefined;
    return new Promise((resolve) => pipe.once("drain", resolve));
  };

  function handleLine(line: string): void {
    const message: unknown = JSON.parse(line);
    if (!isObject(message)) throw new Error(`the service sent an invalid job: ${line.slice(0, 200)}`);
    if ("stop" in message) {
      const { id, controller } = current ?? {};
      if (id === message["stop"]) controller?.abort(new Error(`job ${id} was cancelled or timed out`));
      return;
    }
    const id = String(message["id"]);
    const controller = new AbortController();
    current = { id, controller };
    void runJob(handler, { ...message, id, input: message["input"], signal: controller.signal }, send);
  }

  pipe.setEncoding("utf8");
  pipe.on("data", createLineSplitter(handleLine).add);
  // The service has ended, so no process receives this worker's output.
  pipe.on("close", () => process.exit(0));
  pipe.on("error", () => process.exit(1));
  void send('{"ready":true}');
}

async function loadHandler(file: string): Promise<Handler> {
  const loaded: unknown = await import(pathToFileURL(file).href);
  let defaultExport: unknown = isObject(loaded) ? loaded["default"] : undefined;
  // In a CommonJS file compiled from an ES module, the default export is nested one level deeper.
  if (isObject(defaultExport) && "default" in defaultExport) defaultExport = defaultExport["default"];
  if (typeof defaultExport !== "function")
    throw new Error(`${file}: the default export must be a function; add "export default (job) => output"`);
  const handler = defaultExport;
  return (job) => handler(job);
}

async function main(file: string): Promise<void> {
  const handler = await loadHandler(file);
  serve(handler, new Socket({ fd: pipeDescriptor, readable: true, writable: true }));
}

const [, , handlerFile = ""] = process.argv;
main(handlerFile).catch(async (error: unknown) => {
  const { loadFailureReport } = await import("./load-failure.js");
  const report = loadFailureReport(error, handlerFile, process.execArgv);
  if (report === undefined) throw error;
  console.error(report);
  process.exit(1);
});

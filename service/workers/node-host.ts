import { Agent, request as httpRequest } from "node:http";
import { pathToFileURL } from "node:url";

/**
 * The program that runs a handler file: takes jobs over the worker channel, one at a time, and hands in what the handler
 * makes of them. It starts with every worker, so it loads nothing but HTTP. The handler is the file's default export:
 * `(job: {id, input, signal}) => output`; a generator streams, a throw fails the job.
 */

interface HandlerJob {
  id: string;
  input: unknown;
  /** Aborts when the job was cancelled or ran out of time. */
  signal: AbortSignal;
}
type Handler = (job: HandlerJob) => unknown;

interface Answer {
  status: number;
  text: string;
}

const agent = new Agent({ keepAlive: true });
const setting = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: this program is started by the local service`);
  return value;
};
const workerId = setting("RUNPOD_POD_ID");
const takeUrl = setting("RUNPOD_WEBHOOK_GET_JOB").replace("$ID", workerId);
const resultUrl = (template: string, jobId: string): string =>
  setting(template).replace("$RUNPOD_POD_ID", workerId).replace("$ID", jobId);

function call(method: string, url: string, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: setting("RUNPOD_AI_API_KEY"),
      ...(body === undefined
        ? {}
        : { "content-type": "application/x-www-form-urlencoded", "content-length": Buffer.byteLength(body) }),
    };
    const sent = httpRequest(url, { method, agent, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
      answer.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Hands in a result; a lost connection is tried again for a while, since the job's work is done. */
async function handIn(template: string, jobId: string, body: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { status, text } = await call("POST", resultUrl(template, jobId), body);
      if (status < 300) return;
      const refusal = `the service refused what job ${jobId} made: ${status} ${text}`;
      // It has failed the job itself, with the reason.
      if (status < 500) return console.error(refusal);
      if (attempt >= 5) throw new Error(refusal);
    } catch (error) {
      if (attempt >= 5) throw error;
    }
    await pause(100 * 2 ** attempt);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Values that a handler yields one by one; a text is no such thing, and neither is a list. */
function chunksOf(value: unknown): AsyncIterable<unknown> | Iterable<unknown> | undefined {
  const iterates = (one: unknown): one is AsyncIterable<unknown> => isObject(one) && Symbol.asyncIterator in one;
  const steps = (one: unknown): one is Iterable<unknown> => isObject(one) && Symbol.iterator in one && "next" in one;
  return iterates(value) || steps(value) ? value : undefined;
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const told = `${error.name}: ${error.message}`;
  const { stack } = error;
  if (!stack) return told;
  return stack.includes(error.message) ? stack : `${told}\n${stack}`;
}

async function resultOf(handler: Handler, job: HandlerJob): Promise<Record<string, unknown>> {
  const returned = await handler(job);
  const chunks = chunksOf(returned);
  if (chunks) {
    const output: unknown[] = [];
    for await (const chunk of chunks) {
      if (job.signal.aborted) break;
      output.push(chunk);
      await handIn("RUNPOD_WEBHOOK_POST_STREAM", job.id, JSON.stringify({ output: chunk }));
    }
    return { output };
  }
  if (!isObject(returned) || Array.isArray(returned)) return { output: returned ?? null };
  const { error, refresh_worker: refresh, ...output } = returned;
  const stop = refresh ? { stopPod: true } : {};
  if (error !== undefined && error !== null) {
    const told = typeof error === "string" ? error : JSON.stringify(error);
    return { error: told, ...(Object.keys(output).length > 0 ? { output } : {}), ...stop };
  }
  return { output: refresh === undefined ? returned : output, ...stop };
}

let current: { id: string; stop: AbortController } | undefined;

/** The last jobs that were to stop before they arrived here. */
let stoppedEarly: string[] = [];

/** A result as JSON; one that has none, such as a circle, is the handler's failure. */
function resultText(result: Record<string, unknown>): string {
  try {
    return JSON.stringify(result);
  } catch (error) {
    return JSON.stringify({ error: `the handler's output is no JSON value: ${errorText(error)}` });
  }
}

async function runJob(handler: Handler, text: string): Promise<void> {
  const parsed: unknown = JSON.parse(text);
  if (!isObject(parsed) || typeof parsed["id"] !== "string")
    throw new Error(`the service sent no job: ${text.slice(0, 200)}`);
  const { id } = parsed;
  const stop = new AbortController();
  current = { id, stop };
  try {
    if (stoppedEarly.includes(id)) stop.abort(stopReason(id));
    const job = { ...parsed, id, input: parsed["input"], signal: stop.signal };
    const result = await resultOf(handler, job).catch((error: unknown) => ({ error: errorText(error) }));
    await handIn("RUNPOD_WEBHOOK_POST_OUTPUT", id, resultText(result));
  } finally {
    current = undefined;
  }
}

async function takeJobs(handler: Handler): Promise<never> {
  for (let faults = 0; ; ) {
    try {
      const { status, text } = await call("GET", `${takeUrl}&job_in_progress=0`);
      if (status === 200) await runJob(handler, text);
      else if (status !== 204) throw new Error(`the service refused to give a job: ${status} ${text}`);
      faults = 0;
    } catch (error) {
      // The service ends its workers; one that cannot reach it for long has been forgotten.
      if (++faults > 20) throw error;
      await pause(50 * faults);
    }
  }
}

const stopReason = (id: string): Error => new Error(`job ${id} was cancelled or ran out of time`);

/** Hears which job has to stop. */
async function hearStops(): Promise<never> {
  for (;;) {
    const answer = await call("GET", takeUrl.replace("/job-take/", "/job-stop/")).catch(() => undefined);
    if (answer?.status === 200) {
      const told: unknown = JSON.parse(answer.text);
      const ids: unknown = isObject(told) ? told["jobsToStop"] : [];
      for (const id of Array.isArray(ids) ? ids.map(String) : []) {
        if (current?.id === id) current.stop.abort(stopReason(id));
        else stoppedEarly = [...stoppedEarly.slice(-9), id];
      }
    } else if (answer?.status !== 204) {
      await pause(500);
    }
  }
}

async function loadHandler(file: string): Promise<Handler> {
  const loaded: unknown = await import(pathToFileURL(file).href);
  let found: unknown = isObject(loaded) ? loaded["default"] : undefined;
  // A CommonJS file compiled from an ES module has its default export one level down.
  if (isObject(found) && "default" in found) found = found["default"];
  if (typeof found !== "function")
    throw new Error(`${file} has no default export that is a function: export default (job) => output`);
  const handler = found;
  return (job) => handler(job);
}

async function main(): Promise<void> {
  const file = process.argv[2];
  if (file === undefined) throw new Error("no handler file was given");
  const handler = await loadHandler(file);
  await Promise.race([takeJobs(handler), hearStops()]);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

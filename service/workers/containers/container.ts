import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "serverless-compute-api/clock";
import { z } from "zod";
import { createLastLines, readLines } from "../lines";
import type { ProcessEnd, WorkerProcess } from "../process";
import { type EngineClient, EngineError } from "./engine-client";
import { splitOutput } from "./output";

interface ContainerStart {
  client: EngineClient;
  name: string;
  /** Prepares the image and other requirements; resolves with a function that creates the container and returns its id. */
  prepare(): Promise<(signal: AbortSignal) => Promise<string>>;
  /** Returns true if the engine reported that the container ran out of memory. */
  ranOutOfMemory(containerId: string): Promise<boolean>;
  /** Memory limit, GB; undefined for no limit. */
  memoryLimit: number | undefined;
  clock: Clock;
  /** Receives each line of the container's output. */
  onLine(line: string): void;
}

const waited = z.looseObject({ StatusCode: z.number() });

/** Maximum wait for the remaining output after a container has ended, ms. */
const drain = 500;
/** Maximum time for the engine to create and start a container, ms. */
const callLimit = 60_000;
/** Maximum time for the engine to remove a killed container, ms. */
const longestEnd = 10_000;
/** Interval at which a failed wait for a container's end is retried, ms. */
const lookInterval = 500;

/** The end of a container, without its output. */
type Ending = Omit<ProcessEnd, "lastErrors">;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const isGone = (error: unknown): boolean => error instanceof EngineError && error.status === 404;
const memoryOf = (limit: number | undefined): string => (limit === undefined ? "memory" : `its ${limit} GB of memory`);
const notRun: Ending = { how: "was stopped before it ran", clean: false };

/** Starts a worker as a container, which the engine removes when it ends. */
export function startContainer(start: ContainerStart): WorkerProcess {
  const { client, name, clock, onLine } = start;
  const path = `/containers/${name}`;
  const [stdout, stderr] = [createLastLines(), createLastLines()];
  const stopped = new AbortController();
  let killedAt: number | undefined;
  let over = false;
  let resolveBegan = (): void => undefined;
  const began = new Promise<void>((resolve) => {
    resolveBegan = resolve;
  });

  /** Sends a request about a container that may already have been removed. */
  async function attempt(method: string, of: string, query: Record<string, string>): Promise<void> {
    await client.call(method, of, { query }).catch((error: unknown) => {
      if (!over && error instanceof EngineError && ![404, 409].includes(error.status)) onLine(messageOf(error));
    });
  }
  const remove = (): Promise<void> => attempt("DELETE", path, { force: "1", v: "1" });

  async function run(): Promise<Ending> {
    const untilStopped = new Promise<undefined>((resolve) => {
      stopped.signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    const preparing = start.prepare();
    preparing.catch(() => undefined);
    // No container exists yet, so a stop need not wait for the pull.
    const create = await Promise.race([preparing, untilStopped]);
    if (create === undefined || stopped.signal.aborted) return notRun;
    const limited = AbortSignal.timeout(callLimit);
    const id = await create(limited);
    try {
      // Before the start, so that neither the first line nor an early end is missed.
      const end = waitForEnd();
      end.catch(() => undefined);
      const output = await attach();
      if (stopped.signal.aborted) {
        await remove();
        return notRun;
      }
      await client.call("POST", `${path}/start`, { signal: limited });
      resolveBegan();
      if (stopped.signal.aborted) await remove();
      const code = await exitCodeOf(end);
      await Promise.race([output.allRead, pause(drain)]);
      return await endingOf(id, code);
    } catch (error) {
      await remove();
      throw error;
    }
  }

  /** Attaches to the container's output; `allRead` resolves at the end of the output. */
  async function attach(): Promise<{ allRead: Promise<unknown> }> {
    const query = { stream: "1", stdout: "1", stderr: "1" };
    const attached = splitOutput(await client.open("POST", `${path}/attach`, { query }));
    const keepIn = (last: typeof stdout) => (line: string) => {
      last.add(line);
      onLine(line);
    };
    const { stdout: out, stderr: errors } = attached;
    return { allRead: Promise.all([readLines(out, keepIn(stdout)), readLines(errors, keepIn(stderr))]) };
  }

  async function waitForEnd(): Promise<number> {
    const query = { condition: "removed" };
    return waited.parse(await client.call("POST", `${path}/wait`, { query })).StatusCode;
  }

  /** Waits for the container's end; resolves with its exit code, or undefined if the code is unknown. */
  async function exitCodeOf(end: Promise<number>): Promise<number | undefined> {
    const first = await end.catch(() => undefined);
    if (first !== undefined) return first;
    // The engine was restarted, or the container ended before the request.
    while (killedAt === undefined || performance.now() - killedAt < longestEnd) {
      try {
        return await waitForEnd();
      } catch (error) {
        if (isGone(error)) return undefined;
      }
      await pause(lookInterval);
    }
    onLine("the Docker Engine has not confirmed the container's removal");
    return undefined;
  }

  async function endingOf(id: string, code: number | undefined): Promise<Ending> {
    if (code === undefined) return { how: "was stopped by the Docker Engine", clean: false };
    const signal = code > 128 && code < 160 ? ` (signal ${code - 128})` : "";
    if (signal !== "" && killedAt === undefined && (await start.ranOutOfMemory(id)))
      return { how: `ran out of ${memoryOf(start.memoryLimit)} and was killed`, clean: false };
    return { how: `ended with exit code ${code}${signal}`, clean: code === 0 };
  }

  const ended = run()
    .catch((error: unknown): Ending => ({ how: `could not be started: ${messageOf(error)}`, clean: false }))
    .then((ending): ProcessEnd => {
      over = true;
      // Some programs write their errors to stdout.
      return { ...ending, lastErrors: stderr.lines.length > 0 ? stderr.lines : stdout.lines };
    });

  function kill(): void {
    if (over) return;
    killedAt ??= performance.now();
    stopped.abort();
    void remove();
  }
  return {
    channel: undefined,
    began,
    ended,
    kill,
    stop(grace) {
      if (over || stopped.signal.aborted) return;
      stopped.abort();
      void attempt("POST", `${path}/kill`, { signal: "SIGTERM" });
      const waiting = new AbortController();
      void ended.then(() => waiting.abort());
      clock.sleep(grace, waiting.signal).then(kill, () => undefined);
    },
  };
}

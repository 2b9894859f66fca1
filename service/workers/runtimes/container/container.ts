import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "serverless-compute-api/clock";
import { z } from "zod";
import { deferred } from "../../../deferred";
import { messageOf } from "../../../errors";
import { createLastLines, readLines } from "../../lines";
import { CallError } from "../json-client";
import {
  endWithCode,
  isSignal,
  killAfter,
  outOfMemory,
  type ProcessEnd,
  type ProgramEnd,
  type WorkerProcess,
} from "../runtime";
import { type EngineClient, within } from "./engine-client";
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

const waitResponse = z.looseObject({ StatusCode: z.number() });

/** Maximum wait for the remaining output after a container has ended, ms. */
const outputTimeout = 500;
/** Maximum time for the engine to create or start a container, ms. */
const callTimeout = 60_000;
/** Maximum time for the engine to remove a killed container, ms. */
const removalTimeout = 10_000;
/** Interval at which a failed wait for a container's end is retried, ms. */
const pollInterval = 500;

const isNotFound = (error: unknown): boolean => error instanceof CallError && error.status === 404;
const neverRan: ProgramEnd = { description: "was stopped before it ran", clean: false };

/** Starts a worker as a container, which the engine removes when it ends. */
export function startContainer(start: ContainerStart): WorkerProcess {
  const { client, name, clock, onLine } = start;
  const path = `/containers/${name}`;
  const lastLines = createLastLines(onLine);
  const stopped = new AbortController();
  /** Aborts when the engine has not removed the killed container in time. */
  const lost = new AbortController();
  let isKilled = false;
  let hasEnded = false;
  const started = deferred();

  /** Sends a call for as long as the engine may take, and until a killed container counts as lost. */
  const limited = <Result>(send: (signal: AbortSignal) => Promise<Result>): Promise<Result> =>
    within(callTimeout, clock, (timeout) => send(AbortSignal.any([timeout, lost.signal])));

  /** Sends a request about a container that may already have been removed. */
  async function callIfPresent(method: string, requestPath: string, query: Record<string, string>): Promise<void> {
    await limited((signal) => client.call(method, requestPath, { query, signal })).catch((error: unknown) => {
      if (!hasEnded && error instanceof CallError && ![404, 409].includes(error.status)) onLine(messageOf(error));
    });
  }
  const remove = (): Promise<void> => callIfPresent("DELETE", path, { force: "1", v: "1" });

  async function run(): Promise<ProgramEnd> {
    const stopRequest = new Promise<undefined>((resolve) => {
      stopped.signal.addEventListener("abort", () => resolve(undefined));
    });
    const preparation = start.prepare();
    preparation.catch(() => undefined);
    // No container exists yet, so a stop need not wait for the pull.
    const createContainer = await Promise.race([preparation, stopRequest]);
    if (createContainer === undefined || stopped.signal.aborted) return neverRan;
    try {
      const id = await limited(createContainer);
      // Before the start, so that neither the first line nor an early end is missed.
      const end = waitForEnd();
      end.catch(() => undefined);
      const output = await attach();
      if (stopped.signal.aborted) {
        await remove();
        return neverRan;
      }
      await limited((signal) => client.call("POST", `${path}/start`, { signal }));
      started.resolve();
      if (stopped.signal.aborted) await remove();
      const code = await exitCodeOf(end);
      await Promise.race([output.allRead, pause(outputTimeout)]);
      return await describeEnd(id, code);
    } catch (error) {
      await remove();
      throw error;
    }
  }

  /** Attaches to the container's output; `allRead` resolves at the end of the output. */
  async function attach(): Promise<{ allRead: Promise<unknown> }> {
    const query = { stream: "1", stdout: "1", stderr: "1" };
    const attached = splitOutput(await limited((signal) => client.open("POST", `${path}/attach`, { query, signal })));
    const { stdout, stderr } = attached;
    const { addOutput, addError } = lastLines;
    return { allRead: Promise.all([readLines(stdout, addOutput), readLines(stderr, addError)]) };
  }

  async function waitForEnd(): Promise<number> {
    const query = { condition: "removed" };
    const { signal } = lost;
    return waitResponse.parse(await client.call("POST", `${path}/wait`, { query, signal })).StatusCode;
  }

  /** Waits for the container's end; resolves with its exit code, or undefined if the code is unknown. */
  async function exitCodeOf(end: Promise<number>): Promise<number | undefined> {
    const exitCode = await end.catch(() => undefined);
    if (exitCode !== undefined) return exitCode;
    // The engine was restarted, or the container ended before the request.
    while (!lost.signal.aborted) {
      try {
        return await waitForEnd();
      } catch (error) {
        if (isNotFound(error)) return undefined;
      }
      await pause(pollInterval);
    }
    onLine("the Docker Engine has not confirmed the container's removal");
    return undefined;
  }

  async function describeEnd(id: string, code: number | undefined): Promise<ProgramEnd> {
    if (code === undefined) return { description: "was stopped by the Docker Engine", clean: false };
    const mayLackMemory = isSignal(code) && !isKilled;
    return mayLackMemory && (await start.ranOutOfMemory(id)) ? outOfMemory(start.memoryLimit) : endWithCode(code);
  }

  const ended = run()
    .catch((error: unknown): ProgramEnd => ({ description: `could not be started: ${messageOf(error)}`, clean: false }))
    .then((containerEnd): ProcessEnd => {
      hasEnded = true;
      return { ...containerEnd, lastErrors: lastLines.lines };
    });

  function kill(): void {
    if (hasEnded) return;
    if (!isKilled) killAfter(removalTimeout, { kill: () => lost.abort(), ended }, clock);
    isKilled = true;
    stopped.abort();
    void remove();
  }
  return {
    channel: undefined,
    started: started.promise,
    ended,
    kill,
    stop(grace) {
      if (hasEnded || stopped.signal.aborted) return;
      stopped.abort();
      void callIfPresent("POST", `${path}/kill`, { signal: "SIGTERM" });
      killAfter(grace, { kill, ended }, clock);
    },
  };
}

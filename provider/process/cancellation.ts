import { Server } from "node:net";
import { watchEngine } from "./engine-watch";

/** Runs verbs so that they can be stopped. */
export interface Cancellation {
  run<Answer>(verb: (signal: AbortSignal) => Promise<Answer>): Promise<Answer>;
  /**
   * Stops running and later verbs: the engine cancels once, and a verb that it had already sent may arrive
   * afterwards.
   */
  cancel(): void;
  /** A new deployment begins in this process, as under a debugger: verbs run again. */
  renew(): void;
  /** Resolves once nothing runs; to whether anything had to be waited for. */
  idle(): Promise<boolean>;
}

/** `atEnd` runs once when the engine ends a command in which nothing is running any more, so not after a Ctrl-C. */
export function createCancellation(atEnd: () => Promise<void> = async () => {}): Cancellation {
  const running = new Map<Promise<unknown>, AbortController>();
  let cancelled = false;
  const stop = (controller: AbortController): void => controller.abort(new Error("the deployment was cancelled"));
  return {
    run: async (verb) => {
      const controller = new AbortController();
      if (cancelled) stop(controller);
      // The detour makes a verb that throws at once a rejection like any other.
      const answer = Promise.resolve().then(() => verb(controller.signal));
      running.set(answer, controller);
      try {
        return await answer;
      } finally {
        running.delete(answer);
      }
    },
    cancel: () => {
      const isEnd = !cancelled && running.size === 0;
      cancelled = true;
      if (isEnd) {
        const ending = atEnd().finally(() => running.delete(ending));
        running.set(ending, new AbortController());
      }
      for (const controller of running.values()) stop(controller);
    },
    renew: () => {
      cancelled = false;
    },
    idle: async () => {
      const waited = running.size > 0;
      while (running.size > 0) await Promise.allSettled(running.keys());
      return waited;
    },
  };
}

/** Milliseconds for tidying up: the engine kills a process 5 s after telling it to end. */
export const tidyUpLimit = 4000;
/** Time for the last responses to leave the process, ms. */
const lastAnswers = 20;

/**
 * Follows the engine at `address`. After one Ctrl-C it calls Cancel, which the SDK handles without a callback. At the
 * end of a command, or after a second Ctrl-C, it sends SIGINT. Running verbs get the time to clean up, even if the engine
 * itself was killed and sends nothing.
 */
export function obeyEngine(
  cancellation: Cancellation,
  address: string | undefined,
  { servers = openServers(), limit = tidyUpLimit }: { servers?: readonly Server[]; limit?: number } = {},
): void {
  watchCancelCalls(servers, () => cancellation.cancel());
  const end = async (): Promise<void> => {
    // A second signal ends the process at once, as it would without us.
    process.off("SIGINT", onSignal);
    stopWatching();
    cancellation.cancel();
    const tired = new Promise((resolve) => setTimeout(resolve, limit).unref());
    const done = cancellation.idle().then((waited) => {
      // The engine waits for this process at the end of every command. If no verb ran, no response is left to send.
      return new Promise<void>((resolve) => void (waited ? setTimeout(resolve, lastAnswers) : setImmediate(resolve)));
    });
    await Promise.race([tired, done]);
    process.kill(process.pid, "SIGINT");
  };
  const onSignal = (): void => void end();
  process.on("SIGINT", onSignal);
  const stopWatching = address === undefined ? () => {} : watchEngine(servers, address, onSignal);
}

/**
 * The servers of this process. The SDK does not expose its own, so this searches the open handles. If Node no
 * longer lists them, one Ctrl-C waits for running verbs, and a killed engine leaves this process behind.
 */
export function openServers(): Server[] {
  const openHandles: unknown = Reflect.get(process, "_getActiveHandles");
  const handles: unknown = typeof openHandles === "function" ? openHandles.call(process) : [];
  return Array.isArray(handles) ? handles.filter((handle) => handle instanceof Server) : [];
}

/** Calls back on every Cancel that reaches one of the servers; it only listens. */
export function watchCancelCalls(servers: readonly Server[], cancelled: () => void): void {
  for (const server of servers) {
    if (server.listenerCount("stream") === 0) continue;
    server.on("stream", (_stream: unknown, headers: Record<string, unknown>) => {
      if (headers[":path"] === "/pulumirpc.ResourceProvider/Cancel") cancelled();
    });
  }
}

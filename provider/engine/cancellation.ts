import { Server } from "node:net";

/** Runs verbs so that they can be told to stop. */
export interface Cancellation {
  run<Answer>(verb: (signal: AbortSignal) => Promise<Answer>): Promise<Answer>;
  /**
   * Tells what runs to stop, and what is started later too: the engine tells it once, and a verb that it had already
   * sent may arrive after it.
   */
  cancel(): void;
  /** A new deployment begins in this process, as under a debugger: verbs run again. */
  renew(): void;
  /** Resolves once nothing runs. */
  idle(): Promise<void>;
}

export function createCancellation(): Cancellation {
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
      cancelled = true;
      for (const controller of running.values()) stop(controller);
    },
    renew: () => {
      cancelled = false;
    },
    idle: async () => {
      while (running.size > 0) await Promise.allSettled(running.keys());
    },
  };
}

/** Milliseconds for tidying up: the engine kills a process 5 s after telling it to end. */
export const tidyUpLimit = 4000;
/** Time for the last answers to leave the process, ms. */
const lastAnswers = 20;

/**
 * Makes this process obey the engine: after one Ctrl-C it calls Cancel, which the SDK answers without telling us, and at
 * the end of a command, or after a second Ctrl-C, it sends SIGINT. Running verbs get the time to tidy up.
 */
export function obeyEngine(cancellation: Cancellation, limit = tidyUpLimit): void {
  watchCancelCalls(() => cancellation.cancel());
  const end = async (): Promise<void> => {
    cancellation.cancel();
    const tired = new Promise((resolve) => setTimeout(resolve, limit).unref());
    const done = cancellation.idle().then(() => new Promise((resolve) => setTimeout(resolve, lastAnswers)));
    await Promise.race([tired, done]);
    process.kill(process.pid, "SIGINT");
  };
  // Taken off at the first signal: a second one ends the process, as it would without us.
  process.once("SIGINT", () => void end());
}

/**
 * Calls back on every Cancel that reaches a gRPC server of this process. The SDK keeps its server to itself, so this
 * looks for it among the open handles and only listens. Where Node no longer tells them, one Ctrl-C waits for what runs.
 */
export function watchCancelCalls(cancelled: () => void): void {
  const openHandles: unknown = Reflect.get(process, "_getActiveHandles");
  const handles: unknown = typeof openHandles === "function" ? openHandles.call(process) : [];
  for (const handle of Array.isArray(handles) ? handles : []) {
    if (!(handle instanceof Server) || handle.listenerCount("stream") === 0) continue;
    handle.on("stream", (_stream: unknown, headers: Record<string, unknown>) => {
      if (headers[":path"] === "/pulumirpc.ResourceProvider/Cancel") cancelled();
    });
  }
}

import { Server } from "node:net";
import { watchEngine } from "./watch";

/** Runs operations with a signal that cancels them. */
export interface Cancellation {
  run<Result>(operation: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Aborts running and later operations. The engine cancels once, and an operation that it sent before may arrive later. */
  cancel(): void;
  /** Allows operations to run again, for another deployment in the same process (under a debugger). */
  reset(): void;
  /** Resolves when no operation is running; true if an operation was running at the time of the call. */
  waitUntilIdle(): Promise<boolean>;
}

/** Creates a Cancellation. `onEnd` runs once, if no operation is running when the engine ends the command; it does not run after Ctrl-C. */
export function createCancellation(onEnd: () => Promise<void> = async () => {}): Cancellation {
  const running = new Map<Promise<unknown>, AbortController>();
  let isCancelled = false;
  const abort = (controller: AbortController): void => controller.abort(new Error("the deployment was cancelled"));
  return {
    run: async (operation) => {
      const controller = new AbortController();
      if (isCancelled) abort(controller);
      // Inside `then`, a synchronous throw of the operation becomes a rejection.
      const result = Promise.resolve().then(() => operation(controller.signal));
      running.set(result, controller);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    },
    cancel: () => {
      const isCommandEnd = !isCancelled && running.size === 0;
      isCancelled = true;
      if (isCommandEnd) {
        const endTask = onEnd().finally(() => running.delete(endTask));
        running.set(endTask, new AbortController());
      }
      for (const controller of running.values()) abort(controller);
    },
    reset: () => {
      isCancelled = false;
    },
    waitUntilIdle: async () => {
      const wasBusy = running.size > 0;
      while (running.size > 0) await Promise.allSettled(running.keys());
      return wasBusy;
    },
  };
}

/** Time for cleanup at the end (ms); the engine kills a process 5 s after SIGINT. */
export const shutdownTimeout = 4000;
/** Time to send the last responses before the process exits (ms). */
const flushTime = 20;

/**
 * Cancels operations and ends this process when the engine at `address` requests it. After one Ctrl-C the engine calls Cancel, which
 * the SDK handles without a callback. At the end of a command, or after a second Ctrl-C, the engine sends SIGINT. Running operations
 * have time to clean up, even if the engine was killed and sends no signal.
 */
export function handleEngineSignals(
  cancellation: Cancellation,
  address: string | undefined,
  { servers = openServers(), timeout = shutdownTimeout }: { servers?: readonly Server[]; timeout?: number } = {},
): void {
  watchCancelCalls(servers, () => cancellation.cancel());
  const shutDown = async (): Promise<void> => {
    // A second signal ends the process immediately, which is Node's default.
    process.off("SIGINT", onSignal);
    stopWatching();
    cancellation.cancel();
    const expiry = new Promise((resolve) => setTimeout(resolve, timeout).unref());
    const completion = cancellation.waitUntilIdle().then((wasBusy) => {
      // The engine waits for this process at the end of every command. If no operation ran, no response is left to send.
      return new Promise<void>((resolve) => void (wasBusy ? setTimeout(resolve, flushTime) : setImmediate(resolve)));
    });
    await Promise.race([expiry, completion]);
    process.kill(process.pid, "SIGINT");
  };
  const onSignal = (): void => void shutDown();
  process.on("SIGINT", onSignal);
  const stopWatching = address === undefined ? () => {} : watchEngine(servers, address, onSignal);
}

/**
 * Returns the servers among Node's open handles, because the SDK does not expose its server. If a version of Node does not list
 * the handles, one Ctrl-C waits for running operations, and this process keeps running after the engine is killed.
 */
export function openServers(): Server[] {
  const openHandles: unknown = Reflect.get(process, "_getActiveHandles");
  const handles: unknown = typeof openHandles === "function" ? openHandles.call(process) : [];
  return Array.isArray(handles) ? handles.filter((handle) => handle instanceof Server) : [];
}

/** Calls `onCancel` for every Cancel request to one of the servers; it only observes the request. */
export function watchCancelCalls(servers: readonly Server[], onCancel: () => void): void {
  for (const server of servers) {
    if (server.listenerCount("stream") === 0) continue;
    server.on("stream", (_stream: unknown, headers: Record<string, unknown>) => {
      if (headers[":path"] === "/pulumirpc.ResourceProvider/Cancel") onCancel();
    });
  }
}

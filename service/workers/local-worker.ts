import type { Clock } from "serverless-compute-api/clock";
import type { WorkerProcess } from "./process";
import type { Worker } from "./registry";

/** A worker that this service started, as a process or in a container. */
export interface LocalWorker {
  worker: Worker;
  process: WorkerProcess;
  image: string;
  /** Last failed health check, as a sentence. */
  lastCheck: string | undefined;
  redact(text: string): string;
  /** Why the service ended it; a worker that ended without a reason crashed. */
  reason: string | undefined;
  /** True if it was ended because it or its result was lost, which counts as a crash. */
  lost: boolean;
  /** True if its end was asked for. */
  stopped: boolean;
}

/** A worker that was just started. While its image is fetched it is neither late nor silent; `begun` is called after that. */
export function localWorkerOf(
  worker: Worker,
  started: Pick<LocalWorker, "process" | "image" | "redact">,
  clock: Clock,
  begun: () => void,
): LocalWorker {
  const { process } = started;
  worker.serves = process.server ? "requests" : "jobs";
  worker.preparing = process.began !== undefined;
  void process.began?.then(() => {
    worker.preparing = false;
    worker.startedAt = clock.now();
    begun();
  });
  return { ...started, worker, lastCheck: undefined, reason: undefined, lost: false, stopped: false };
}

/** Ends a worker at once; `lost` states that this counts as a crash. */
export function kill(local: LocalWorker, reason: string, lost = false): void {
  local.lost ||= lost;
  local.reason ??= reason;
  local.stopped = true;
  local.process.kill();
}

import type { Clock } from "serverless-compute-api/clock";
import type { Worker } from "./registry";
import type { WorkerProcess } from "./runtimes/runtime";

/** A worker that this service started, as a process or in a container. */
export interface LocalWorker {
  worker: Worker;
  process: WorkerProcess;
  image: string;
  /** Description of the last failed health check. */
  lastFailedCheck: string | undefined;
  /** The reason why the service ended the worker; a worker that ends without a reason has crashed. */
  reason: string | undefined;
  /** The loss that made the service end the worker, so that the next start backs off; only a lost worker counts as a crash of its jobs. */
  loss: "worker" | "result" | undefined;
  /** True if the service has requested the worker's end. */
  stopped: boolean;
}

/** A newly started worker. It does not count as late or silent while its image is pulled; `onStarted` is called afterwards. */
export function localWorkerOf(
  worker: Worker,
  started: Pick<LocalWorker, "process" | "image">,
  clock: Clock,
  onStarted: () => void,
): LocalWorker {
  const { process } = started;
  worker.workload = process.server ? "requests" : "jobs";
  worker.waiting = process.waiting ?? worker.waiting;
  worker.preparing = process.started !== undefined;
  void process.started?.then(() => {
    worker.preparing = false;
    worker.startedAt = clock.now();
    onStarted();
  });
  return { ...started, worker, lastFailedCheck: undefined, reason: undefined, loss: undefined, stopped: false };
}

/** Kills a worker, because of a loss if there is one. */
export function kill(local: LocalWorker, reason: string, loss?: LocalWorker["loss"]): void {
  local.loss ??= loss;
  local.reason ??= reason;
  local.stopped = true;
  local.process.kill();
}

import type { WorkerProcess } from "./process";
import type { Worker } from "./registry";

/** A worker that this service started, as a process or in a container. */
export interface LocalWorker {
  worker: Worker;
  process: WorkerProcess;
  image: string;
  redact(text: string): string;
  /** Why the service ended it; a worker that ended without a reason crashed. */
  reason: string | undefined;
  /** Whether it was ended because it did not answer any more, which is as bad as a crash. */
  lost: boolean;
  /** Whether its end was asked for. */
  stopped: boolean;
}

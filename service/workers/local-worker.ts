import type { ProcessEnd, WorkerProcess } from "./process";
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

/** How a worker came to its end, as words that follow "the worker". */
export const howItEnded = ({ reason }: LocalWorker, end: ProcessEnd): string =>
  reason === undefined ? end.how : `was ended by the service because it ${reason}`;

/** The last lines it wrote, as the end of a sentence; empty when it wrote nothing. */
export const lastWordsOf = ({ redact }: LocalWorker, { lastErrors }: ProcessEnd): string =>
  lastErrors.length > 0 ? `; its last lines:\n${lastErrors.map(redact).join("\n")}` : "";

/** Why no worker of this image comes up. */
export const failedStart = ({ image }: LocalWorker, how: string, lastWords: string): string =>
  `workers of the image "${image}" do not start: the last one ${how}, before it asked for a job${lastWords}`;

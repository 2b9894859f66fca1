import type { Logger } from "pino";
import type { Jobs } from "./jobs";
import type { JobStoreDeps } from "./store";

/** What nobody was promised stays unwritten for one to two times this, ms: most jobs are over before. */
const deferral = 25;

/** When the tables get what they lack: once there is enough of it for a transaction, or it has waited for a moment. */
export interface TableWriter extends Pick<JobStoreDeps, "deferred" | "logIsFull"> {
  stop(): void;
}

export function createTableWriter(
  jobs: () => Pick<Jobs, "writeLogged" | "writeOlder">,
  log: Pick<Logger, "error">,
): TableWriter {
  let later: NodeJS.Timeout | undefined;
  let next: NodeJS.Immediate | undefined;
  let failed = false;

  function attempt(write: () => void): void {
    try {
      write();
      failed = false;
    } catch (error) {
      failed = true;
      log.error({ err: error }, "what was deferred could not be written");
      deferred();
    }
  }
  function deferred(): void {
    later ??= setTimeout(() => {
      later = undefined;
      attempt(jobs().writeOlder);
    }, deferral);
  }
  return {
    deferred,
    // Past the responses of this turn. A full disk is not asked again with every job.
    logIsFull() {
      if (failed) return;
      next ??= setImmediate(() => {
        next = undefined;
        attempt(jobs().writeLogged);
      });
    },
    stop() {
      clearTimeout(later);
      clearImmediate(next);
    },
  };
}

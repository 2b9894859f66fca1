import type { Logger } from "pino";
import type { Jobs } from "./jobs";

/** What nobody was promised stays unwritten for one to two times this, ms: most jobs are over before. */
const deferral = 25;

/** Wait after a failed attempt, ms: a locked store keeps the process busy for the whole of its timeout. */
const retryPause = 250;

/** When the tables get what they lack: once there is enough of it for a transaction, or it has waited for a moment. */
export function createTableWriter(
  jobs: () => Pick<Jobs, "writeDeferred" | "writeLogged" | "writeOlder">,
  log: Pick<Logger, "error">,
) {
  let later: NodeJS.Timeout | undefined;
  let next: NodeJS.Immediate | undefined;
  let failed = false;

  const report = (error: unknown): void => log.error({ err: error }, "what was deferred could not be written");
  function attempt(write: () => void): void {
    try {
      write();
      failed = false;
    } catch (error) {
      if (!failed) report(error);
      failed = true;
      deferred();
    }
  }
  function deferred(): void {
    later ??= setTimeout(
      () => {
        later = undefined;
        attempt(jobs().writeOlder);
      },
      failed ? retryPause : deferral,
    );
  }
  return {
    deferred,
    // Past the responses of this turn. A full disk is not asked again with every job.
    logIsFull(): void {
      if (failed) return;
      next ??= setImmediate(() => {
        next = undefined;
        attempt(jobs().writeLogged);
      });
    },
    /** Writes what is left. */
    async stop(): Promise<void> {
      clearTimeout(later);
      clearImmediate(next);
      await jobs().writeDeferred().catch(report);
    },
  };
}

import { writeFileSync } from "node:fs";
import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import { removeMarker } from "./data-folder";
import { openDatabase, type StoreFaults } from "./database";
import { storeFile } from "./store-file";

/** Interval of attempts to write while the store cannot be written, ms. */
const retryInterval = 1000;

/** Size of the file that an attempt writes, bytes: on a full disk, small changes can still fit into the log. */
const probeSize = 1024 * 1024;

const recovered = "the store can be written again";

/**
 * Opens the store of a data folder, and reports once that it cannot be written, and once that it can again. While it cannot, attempts to
 * write it every second, because requests may only read.
 */
export function openWatchedDatabase({
  dataFolder,
  clock,
  onNotice,
}: {
  dataFolder: string;
  clock: Clock;
  /** Receives the messages for the user. */
  onNotice(text: string): void;
}) {
  let problem: string | undefined;
  // The log is in the folder, which the store locks.
  let log: Pick<Logger, "info" | "error"> | undefined;
  const closing = new AbortController();

  const faults: StoreFaults = {
    onCallbackError: (error) => log?.error({ err: error }, "afterCommit callback failed after a commit"),
    onDiskFault(text) {
      if (text === problem) return;
      const isRetrying = problem !== undefined;
      problem = text;
      log?.error(text);
      onNotice(text);
      if (!isRetrying) void retryUntilWritten();
    },
  };
  const database = openDatabase(dataFolder, faults);
  const probe = `${storeFile(dataFolder)}.probe`;
  // A kill may have interrupted an attempt.
  removeMarker(probe);

  function canWrite(): boolean {
    try {
      writeFileSync(probe, Buffer.alloc(probeSize));
      database.rewriteHeader();
      return true;
    } catch {
      return false;
    } finally {
      removeMarker(probe);
    }
  }

  async function retryUntilWritten(): Promise<void> {
    do await clock.sleep(retryInterval, closing.signal).catch(() => undefined);
    while (!closing.signal.aborted && !canWrite());
    if (closing.signal.aborted) return;
    problem = undefined;
    log?.info(recovered);
    onNotice(recovered);
  }

  return {
    database: {
      ...database,
      close(): void {
        closing.abort();
        database.close();
      },
    },
    /** Writes the messages also to a log. */
    useLog(target: Pick<Logger, "info" | "error">): void {
      log = target;
    },
    /** The reason why the store cannot be written; undefined if it can. */
    problem: (): string | undefined => problem,
  };
}

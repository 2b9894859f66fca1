import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import type { GroupCommit } from "../store/group-commit";
import { createAlarm } from "./alarm";
import type { JobStore } from "./store";

/** Time between two flushes, ms: a change stays pending for one to two of them. Most jobs end before. */
const interval = 25;

export type Flush = ReturnType<typeof createFlush>;

/** Writes pending job changes after a short time. A failed flush is logged and retried. */
export function createFlush(
  store: Pick<JobStore, "flush" | "flushOlder">,
  { commit }: Pick<GroupCommit, "commit">,
  clock: Clock,
  log: Pick<Logger, "error">,
) {
  const alarm = createAlarm(
    clock,
    async () => ((await commit(store.flushOlder)) ? clock.now() + interval : undefined),
    (error) => log.error({ err: error }, "pending job changes: cannot be written; retrying"),
  );
  return {
    /** Writes the changes that are pending now within twice the interval. */
    soon: (): void => alarm.by(clock.now() + interval),
    /** Writes all pending changes; resolves after the commit. */
    now: (): Promise<void> => commit(store.flush),
    start: alarm.start,
    /** Ends the flushes in the background. */
    stop: alarm.stop,
  };
}

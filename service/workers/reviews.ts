import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import { createAlarm } from "../jobs/alarm";
import { ShortLivedMap } from "../short-lived-map";

/** Schedules the reviews of endpoints: after each change of an endpoint, and at the times that reviews return. */
export function createReviews({
  endpoints,
  review,
  clock,
  log,
}: {
  /** Returns the ids of all endpoints. */
  endpoints(): string[];
  /** Reviews an endpoint; returns the time of its next review, Infinity for none. */
  review(endpointId: string): number;
  clock: Clock;
  log: Pick<Logger, "error">;
}) {
  const pending = new ShortLivedMap<string, true>();
  let started = false;
  let stopped = false;
  const alarm = createAlarm(clock, reviewAll, (error) => log.error({ err: error }, "pool: pass failed; retrying"));

  /** Reviews all endpoints; returns the time of the next pass. */
  async function reviewAll(): Promise<number | undefined> {
    const nextReview = Math.min(...endpoints().map(review));
    return nextReview === Number.POSITIVE_INFINITY ? undefined : nextReview;
  }

  return {
    /** Schedules a review of a changed endpoint. */
    schedule(endpointId: string): void {
      if (!started || stopped || pending.has(endpointId)) return;
      pending.set(endpointId, true);
      // Coalesces changes of one turn, some of which arrive in the middle of another change.
      setImmediate(() => {
        pending.delete(endpointId);
        if (!stopped) alarm.scheduleResultOf(() => review(endpointId));
      });
    },
    /** Starts reviews, unless they have been stopped before. */
    start(): void {
      if (stopped) return;
      started = true;
      alarm.start();
    },
    /** Stops reviews; resolves when the current review has ended. */
    async stop(): Promise<void> {
      stopped = true;
      await alarm.stop();
    },
  };
}

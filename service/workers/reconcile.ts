import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import { createScheduler } from "../scheduler";
import { ShortLivedMap } from "../short-lived-map";

/** The reconcile loop: compares each endpoint's workers with the plan after each change of the endpoint, and at the times that it returns. */
export function createReconcileLoop({
  endpoints,
  reconcile,
  clock,
  log,
}: {
  /** Returns the ids of all endpoints. */
  endpoints(): string[];
  /** Reconciles an endpoint; returns the time at which to repeat it, Infinity for never. */
  reconcile(endpointId: string): number;
  clock: Clock;
  log: Pick<Logger, "error">;
}) {
  const pending = new ShortLivedMap<string, true>();
  let started = false;
  let stopped = false;
  const scheduler = createScheduler(clock, reconcileAll, (error) =>
    log.error({ err: error }, "pool: pass failed; retrying"),
  );

  /** Reconciles all endpoints; returns the time of the next pass. */
  async function reconcileAll(): Promise<number> {
    return Math.min(...endpoints().map(reconcile));
  }

  return {
    /** Schedules a changed endpoint. */
    schedule(endpointId: string): void {
      if (!started || stopped || pending.has(endpointId)) return;
      pending.set(endpointId, true);
      // Coalesces changes of one turn, some of which arrive in the middle of another change.
      setImmediate(() => {
        pending.delete(endpointId);
        if (!stopped) scheduler.scheduleResultOf(() => reconcile(endpointId));
      });
    },
    /** Starts the loop, unless it has been stopped before. */
    start(): void {
      if (stopped) return;
      started = true;
      scheduler.start();
    },
    /** Stops the loop; resolves when the current pass has ended. */
    async stop(): Promise<void> {
      stopped = true;
      await scheduler.stop();
    },
  };
}

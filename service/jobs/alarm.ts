import type { Clock } from "serverless-compute-api/clock";

/** The longest sleep, ms: timers support 24.8 days at most. */
const longest = 24 * 3600 * 1000;

/** Wait after a failed run, ms. */
const failurePause = 1000;

/** Runs `work` at requested times, without polling. `work` returns the time of its next run, or undefined to wait for a request. */
export function createAlarm(clock: Clock, work: () => Promise<number | undefined>, onError: (error: unknown) => void) {
  let stopped = false;
  let next = Number.POSITIVE_INFINITY;
  let sleeping: AbortController | undefined;
  let running: Promise<void> = Promise.resolve();

  async function sleepUntilDue(): Promise<void> {
    while (!stopped && next > clock.now()) {
      sleeping = new AbortController();
      await clock.sleep(Math.min(next - clock.now(), longest), sleeping.signal).catch(() => undefined);
      sleeping = undefined;
    }
  }

  async function run(): Promise<void> {
    while (!stopped) {
      await sleepUntilDue();
      if (stopped) return;
      next = Number.POSITIVE_INFINITY;
      try {
        const requested = await work();
        if (requested !== undefined) next = Math.min(next, requested);
      } catch (error) {
        onError(error);
        // Overdue work requested during the run also waits; otherwise it would fail in a loop.
        next = clock.now() + failurePause;
      }
    }
  }

  /** Requests a run at `time` (ms since the epoch) at the latest. */
  function by(time: number): void {
    if (time >= next) return;
    next = time;
    sleeping?.abort();
  }

  return {
    by,
    /** Requests a run at the time returned by `nextRun`; if it throws, reports the error and requests a run after the failure pause. */
    byResultOf(nextRun: () => number): void {
      try {
        by(nextRun());
      } catch (error) {
        onError(error);
        by(clock.now() + failurePause);
      }
    },
    start(): void {
      next = Math.min(next, clock.now());
      running = run();
    },
    /** Stops further runs; resolves when the current run has ended. */
    async stop(): Promise<void> {
      stopped = true;
      sleeping?.abort();
      await running;
    },
  };
}

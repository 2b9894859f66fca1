import type { SteadyClock } from "./steady-clock";

/** The longest sleep, ms: timers support 24.8 days at most. */
const maxSleep = 24 * 3600 * 1000;

/** Wait after a failed run, ms. */
const retryDelay = 1000;

/** Runs `work` at requested times, without polling. `work` returns the time of its next run, or undefined to wait for a request. */
export function createScheduler(
  clock: SteadyClock,
  work: () => Promise<number | undefined>,
  onError: (error: unknown) => void,
) {
  let stopped = false;
  let nextRunAt = Number.POSITIVE_INFINITY;
  let sleep: AbortController | undefined;
  let currentRun: Promise<void> = Promise.resolve();

  async function sleepUntilDue(): Promise<void> {
    while (!stopped && nextRunAt > clock.now()) {
      sleep = new AbortController();
      await clock.sleep(Math.min(nextRunAt - clock.now(), maxSleep), sleep.signal).catch(() => undefined);
      sleep = undefined;
    }
  }

  async function run(): Promise<void> {
    while (!stopped) {
      await sleepUntilDue();
      if (stopped) return;
      nextRunAt = Number.POSITIVE_INFINITY;
      try {
        const requestedTime = await work();
        if (requestedTime !== undefined) nextRunAt = Math.min(nextRunAt, requestedTime);
      } catch (error) {
        onError(error);
        // Overdue work requested during the run also waits; otherwise it would fail in a loop.
        nextRunAt = clock.now() + retryDelay;
      }
    }
  }

  /** Requests a run at `time` (ms of the steady clock) at the latest. */
  function schedule(time: number): void {
    if (time >= nextRunAt) return;
    nextRunAt = time;
    sleep?.abort();
  }

  return {
    schedule,
    /** Requests a run at the time returned by `nextRun`; if it throws, reports the error and requests a run after the failure pause. */
    scheduleResultOf(nextRun: () => number): void {
      try {
        schedule(nextRun());
      } catch (error) {
        onError(error);
        schedule(clock.now() + retryDelay);
      }
    },
    start(): void {
      nextRunAt = Math.min(nextRunAt, clock.now());
      currentRun = run();
    },
    /** Stops further runs; resolves when the current run has ended. */
    async stop(): Promise<void> {
      stopped = true;
      sleep?.abort();
      await currentRun;
    },
  };
}

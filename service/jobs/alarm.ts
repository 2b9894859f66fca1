import type { Clock } from "serverless-compute-api/clock";

/** The longest sleep, ms: timers support 24.8 days at most. */
const longest = 24 * 3600 * 1000;

/** Wait after a failed run, ms. */
const failurePause = 1000;

/** Runs `work` at requested times, without polling. `work` returns the time of its next run; undefined for none until a request. */
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
        const wanted = await work();
        if (wanted !== undefined) next = Math.min(next, wanted);
      } catch (error) {
        onError(error);
        // Not earlier, even if work that is overdue was requested meanwhile: it would fail in a loop.
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
    /** Requests a run at the time that `look` returns; if `look` fails, that is reported and a run follows a moment later. */
    byResultOf(look: () => number): void {
      try {
        by(look());
      } catch (error) {
        onError(error);
        by(clock.now() + failurePause);
      }
    },
    start(): void {
      next = Math.min(next, clock.now());
      running = run();
    },
    /** Ends the runs; resolves after the current one. */
    async stop(): Promise<void> {
      stopped = true;
      sleeping?.abort();
      await running;
    },
  };
}

import { type Clock, elapsedTime } from "serverless-compute-api/clock";

/** Minimum difference of the clocks that counts as a change of the system time, ms. */
const minChange = 100;

/** A clock with the system's time, for times that users see or that outlive the service. A SteadyClock is not assignable to it. */
export type SystemClock = Clock & { systemChange?: never };

/** A clock for waits and for times that are compared: `now` starts at the system's time and ignores later changes of that time. */
export interface SteadyClock extends Clock {
  readonly system: SystemClock;
  /** Change of the system time since the start of this clock, ms. A time of this clock plus the change is a system time. */
  systemChange(): number;
}

export function steadyClock(system: SystemClock): SteadyClock {
  const lead = system.now() - elapsedTime(system);
  // Whole milliseconds, like the system's time.
  const now = (): number => Math.floor(lead + elapsedTime(system));
  let change = 0;
  return {
    now,
    sleep: (ms, signal) => system.sleep(ms, signal),
    system,
    systemChange() {
      const current = system.now() - now();
      if (Math.abs(current - change) >= minChange) change = current;
      return change;
    },
  };
}

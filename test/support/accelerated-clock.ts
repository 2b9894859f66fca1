import { type Clock, systemClock } from "serverless-compute-api/clock";

/** A clock at `factor` times the machine's speed since `start`: two processes with the same arguments agree on the time. */
export const acceleratedClock = (factor: number, start = 0): Clock => ({
  now: () => Math.floor(start + (Date.now() - start) * factor),
  sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
});

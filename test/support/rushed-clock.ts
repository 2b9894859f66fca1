import { type Clock, systemClock } from "serverless-compute-api";

/** How many times as fast it is. */
const haste = 10;

/** Time that passes ten times as fast, for looks that are a second apart at workers that live in real time. */
export const rushedClock: Clock = {
  now: () => systemClock.now() * haste,
  sleep: (ms, signal) => systemClock.sleep(ms / haste, signal),
};

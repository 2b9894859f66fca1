import { setTimeout as delay } from "node:timers/promises";

/** Returns the square of `input.n` after `input.ms` ms. Throws instead if `input.fails` is true. */
export default async (job) => {
  const { n, ms, fails } = job.input;
  if (ms > 0) await delay(ms);
  if (fails) throw new Error(`no square of ${n}`);
  return { square: n * n };
};

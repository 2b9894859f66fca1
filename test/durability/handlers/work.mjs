import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Returns the square of `input.n` after `input.ms` ms. Throws instead if `input.fails` is true. With `input.hangs`, the first run
 * of the job never ends.
 */
export default async (job) => {
  const { n, ms, fails, hangs } = job.input;
  const mark = `${import.meta.filename}.${job.id}`;
  if (hangs && !existsSync(mark)) {
    writeFileSync(mark, "");
    await delay(3_600_000);
  }
  if (ms > 0) await delay(ms);
  if (fails) throw new Error(`no square of ${n}`);
  return { square: n * n };
};

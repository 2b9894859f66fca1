import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Sleeps `input.ms` milliseconds, then until the file `input.until` exists; returns the milliseconds. */
export default async ({ input: { ms = 0, until } }) => {
  await delay(ms);
  while (until && !existsSync(until)) await delay(10);
  return { slept: ms };
};

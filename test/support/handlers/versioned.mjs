import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const { VERSION = "none", BREAKS = "" } = process.env;

if (BREAKS === "start") {
  console.error(`version ${VERSION} cannot start`);
  process.exit(3);
}
if (BREAKS === "silence") await delay(3_600_000);

/**
 * Returns the version that ran the job, once the file `input.until` exists. `BREAKS` selects a fault:
 * start, silence, answer, hang, crash, or none.
 */
export default async function versioned({ input }) {
  if (BREAKS === "hang") await delay(3_600_000);
  if (BREAKS === "crash") process.exit(4);
  await delay(input.ms ?? 0);
  while (input.until !== undefined && !existsSync(input.until)) await delay(10);
  return { version: VERSION, works: BREAKS !== "answer", n: input.n ?? null };
}

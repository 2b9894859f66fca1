import { readFileSync } from "node:fs";

/**
 * A place of the interface that can be read in more than one way, and how the service reads it: a row of the table
 * "Readings" of docs/service-api.md.
 * @typedef {{ name: string, rule: string, reading: string, reason: string }} Reading
 */

const manual = new URL("../../docs/service-api.md", import.meta.url);

/** Prefix of a reading's name in the tag of a test that depends on it: `{ tags: ["reading:megabyte"] }`. */
export const tagPrefix = "reading:";

/** The readings in the order of the table. A tag with an unknown reading fails the run (vitest.config.mts).
 * @returns {Reading[]} */
export function readReadings(text = readFileSync(manual, "utf8")) {
  const section = /^## Readings\n([\s\S]*?)(?=^## )/m.exec(text)?.[1] ?? "";
  const rows = section.split("\n").flatMap((line) => {
    const [, name, rule, reading, reason] = /^\| `([a-z-]+)` \| (.+?) \| (.+?) \| (.+?) \|$/.exec(line) ?? [];
    return name && rule && reading && reason ? [{ name, rule, reading, reason }] : [];
  });
  const lines = section.split("\n").filter((line) => line.startsWith("| ")).length - 1;
  if (rows.length === 0 || rows.length !== lines)
    throw new Error(`docs/service-api.md, Readings: ${rows.length} of ${lines} rows have a name and three cells`);
  return rows;
}

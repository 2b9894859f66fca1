import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./entry.mjs";

/** @typedef {import("../provider/dist/schema/publisher.js").Publisher} Publisher */

/**
 * Format of each value, and its description for messages.
 * @type {Record<keyof Publisher, { form: RegExp, allowed: string }>}
 */
const values = {
  repository: { form: /^[A-Za-z0-9][A-Za-z0-9-]*\/[A-Za-z0-9_.-]+$/, allowed: '"owner/name"' },
  publisher: { form: /\S/, allowed: "a name" },
  npmScope: { form: /^@[a-z0-9-]+$/, allowed: '"@scope"' },
};

/**
 * Reads the publisher's identity and addresses.
 * @param {string} [folder] Folder of publisher.json.
 * @returns {Publisher}
 */
export function readPublisher(folder = root) {
  /** @type {unknown} */
  const read = JSON.parse(readFileSync(join(folder, "publisher.json"), "utf8"));
  const entries = typeof read === "object" && read !== null && !Array.isArray(read) ? Object.entries(read) : [];
  const unknown = entries.map(([name]) => name).filter((name) => !Object.hasOwn(values, name));
  if (unknown.length > 0) {
    throw new Error(
      `publisher.json: unknown property ${unknown.join(", ")}; allowed are ${Object.keys(values).join(", ")}`,
    );
  }
  /** @param {keyof Publisher} name */
  const entryOf = (name) => {
    const value = Object.fromEntries(entries)[name];
    if (value === null) return null;
    const { form, allowed } = values[name];
    if (typeof value === "string" && form.test(value)) return value;
    throw new Error(`publisher.json: ${name} is ${JSON.stringify(value)}; it must be ${allowed}, or null for none`);
  };
  return { repository: entryOf("repository"), publisher: entryOf("publisher"), npmScope: entryOf("npmScope") };
}

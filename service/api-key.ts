import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "./errors";

/** The file that holds a data folder's API key (mode 0600). */
export const apiKeyFileOf = (dataFolder: string): string => join(dataFolder, "api-key");

/** The API key of a data folder, undefined when no service has started there yet. */
export function readApiKey(dataFolder: string): string | undefined {
  const file = apiKeyFileOf(dataFolder);
  if (!existsSync(file)) return undefined;
  const key = readFileSync(file, "utf8").trim();
  if (/^[\x21-\x7e]{16,}$/.test(key)) return key;
  throw new StartError(`${file} holds no API key of 16 or more plain characters: delete the file to get a new key`);
}

/** The API key of a data folder, made of 32 random bytes at the first start. The folder must exist and be locked. */
export function ensureApiKey(dataFolder: string): string {
  const file = apiKeyFileOf(dataFolder);
  const known = readApiKey(dataFolder);
  if (known !== undefined) {
    chmodSync(file, 0o600);
    return known;
  }
  const key = randomBytes(32).toString("hex");
  // A kill between the two steps leaves no half key behind.
  writeFileSync(`${file}.new`, `${key}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return key;
}

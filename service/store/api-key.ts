import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf, StartError } from "../errors";
import { writeAtomically } from "./data-folder";
import { onDisk } from "./faults";

/** The file with a data folder's API key (mode 0600). */
export const apiKeyFileOf = (dataFolder: string): string => join(dataFolder, "api-key");

/** Returns whether a text is a valid API key. */
export const isApiKey = (text: string): boolean => /^[\x21-\x7e]{16,}$/.test(text);

/** The API key of a data folder; undefined if no service has been started there yet. */
export const readApiKey = (dataFolder: string): string | undefined => onDisk(dataFolder, () => readKey(dataFolder));

function readKey(dataFolder: string): string | undefined {
  const file = apiKeyFileOf(dataFolder);
  const stats = statsOf(file);
  if (!stats) return undefined;
  // A pipe may never end.
  if (!stats.isFile()) throw new StartError(`${file}: is not a file; delete it to get a new key`);
  const key = readFileSync(file, "utf8").trim();
  if (isApiKey(key)) return key;
  throw new StartError(
    `${file} does not contain an API key of 16 or more printable characters; delete the file to get a new key`,
  );
}

/** The stats of a file; undefined if it does not exist. Under Node 22 and later, `throwIfNoEntry: false` also hides ENOTDIR. */
function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Reads the API key from the file of `--api-key-file`. */
export function readApiKeyFile(file: string): string {
  let text: string;
  try {
    // A device such as /dev/full may never end.
    text = statSync(file).isCharacterDevice() ? "" : readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new StartError(`--api-key-file ${file}: cannot be read (${codeOf(error)}); specify an existing file`);
  }
  if (isApiKey(text)) return text;
  throw new StartError(
    `--api-key-file ${file}: does not contain an API key; write 16 or more printable characters without spaces into it`,
  );
}

/**
 * Returns the API key of a data folder. `configuredKey` replaces the folder's key; without `configuredKey`, the first start generates a key from 32 random
 * bytes. The folder must exist and be locked.
 */
export const ensureApiKey = (dataFolder: string, configuredKey: string | undefined): string =>
  onDisk(dataFolder, () => {
    const file = apiKeyFileOf(dataFolder);
    const storedKey = readKey(dataFolder);
    if (storedKey !== undefined && (configuredKey === undefined || configuredKey === storedKey)) {
      chmodSync(file, 0o600);
      return storedKey;
    }
    const key = configuredKey ?? randomBytes(32).toString("hex");
    writeAtomically(file, `${key}\n`);
    return key;
  });

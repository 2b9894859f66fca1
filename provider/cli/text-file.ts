import { readFile, stat } from "node:fs/promises";

/** Reads a file that the command line names. Throws an Error with a message for users if it cannot be read. */
export async function readText(file: string): Promise<string> {
  try {
    // A device such as /dev/full may never end.
    return (await stat(file)).isCharacterDevice() ? "" : await readFile(file, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
    throw new Error(`${file}: cannot be read${code}; specify an existing file`, { cause });
  }
}

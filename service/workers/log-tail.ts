import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { logFiles } from "./logs";

export type LogTail = ReturnType<typeof createLogTail>;

const partSize = 64 * 1024;

const unlessAbsent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== "ENOENT") throw error;
  return undefined;
};
const idOf = (file: string | FileHandle): Promise<number | undefined> =>
  (typeof file === "string" ? stat(file) : file.stat()).then(({ ino }) => ino, unlessAbsent);

/**
 * Follows a log that another process writes, from its last lines on and across rotations. `file` is the newest file of the log; it need
 * not exist yet, and neither need older files.
 */
export function createLogTail(file: string) {
  const files = logFiles(file);
  // Reads continue in the open file, which stays the same file after a rename.
  let current: FileHandle | undefined;
  let decoder = new StringDecoder("utf8");
  let rest = "";

  async function use(handle: FileHandle | undefined): Promise<void> {
    await current?.close();
    current = handle;
    decoder = new StringDecoder("utf8");
  }

  /** Reads the complete lines up to the end of the open file. */
  async function readOn(): Promise<string[]> {
    const buffer = Buffer.alloc(partSize);
    const lines: string[] = [];
    while (current) {
      const { bytesRead } = await current.read(buffer, 0, partSize, null);
      if (bytesRead === 0) break;
      const parts = (rest + decoder.write(buffer.subarray(0, bytesRead))).split("\n");
      rest = parts.pop() ?? "";
      for (const line of parts) lines.push(line);
    }
    return lines;
  }

  /** Opens the successor of the open file; undefined if the open file is the newest. */
  async function following(): Promise<FileHandle | undefined> {
    const own = current && (await idOf(current));
    const placeNow = async (): Promise<number> =>
      own === undefined ? -1 : (await Promise.all(files.map(idOf))).indexOf(own);
    const place = await placeNow();
    if (place === 0) return undefined;
    // If no file was open, or rotations have removed it, the oldest remaining file is next.
    for (const name of files.slice(0, place === -1 ? files.length : place).reverse()) {
      const next = await open(name).catch(unlessAbsent);
      if (!next) continue;
      if ((await placeNow()) === place) return next;
      // The log was rotated in between, so this may be a later file; the next call finds the right file.
      await next.close();
      return undefined;
    }
    return undefined;
  }

  return {
    /** Reads the last `count` existing lines. Must be called once, before `more`. */
    async last(count: number): Promise<string[]> {
      // During a rotation, the newest file has the name of an older file.
      for (const name of files) if (!current) await use(await open(name).catch(unlessAbsent));
      if (!current) return [];
      let lines = await readOn();
      const newest = await idOf(current);
      for (const older of files.slice(1)) {
        if (lines.length >= count) break;
        // This file has already been read.
        if ((await idOf(older)) === newest) continue;
        const text = await readFile(older, "utf8").catch(unlessAbsent);
        if (text) lines = text.replace(/\n$/, "").split("\n").concat(lines);
      }
      return count === 0 ? [] : lines.slice(-count);
    },

    /** Reads the lines written since the last call. */
    async more(): Promise<string[]> {
      let lines: string[] = [];
      for (;;) {
        lines = lines.concat(await readOn());
        const next = await following();
        if (!next) return lines;
        // Reads lines written between the two reads, and an unfinished last line.
        lines = lines.concat(await readOn());
        if (rest !== "") lines.push(rest);
        rest = "";
        await use(next);
      }
    },

    /** The beginning of an unfinished line. */
    rest: (): string => rest,
    close: (): Promise<void> => use(undefined),
  };
}

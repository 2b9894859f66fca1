import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { logFiles } from "./logs";

/** Reads a log that somebody else writes, from its last lines on, also while it starts anew and its older files are moved. */
export interface LogTail {
  /** The last `count` lines that are there now. Before `more`, once. */
  last(count: number): Promise<string[]>;
  /** The lines that came since. */
  more(): Promise<string[]>;
  /** The beginning of a line that is not whole yet. */
  rest(): string;
  close(): Promise<void>;
}

const partSize = 64 * 1024;

const unlessAbsent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== "ENOENT") throw error;
  return undefined;
};
const idOf = (file: string | FileHandle): Promise<number | undefined> =>
  (typeof file === "string" ? stat(file) : file.stat()).then(({ ino }) => ino, unlessAbsent);

export function createLogTail(file: string): LogTail {
  const files = logFiles(file);
  // The open file is the place to go on from: it stays the same one when it gets another name.
  let current: FileHandle | undefined;
  let decoder = new StringDecoder("utf8");
  let rest = "";

  async function use(handle: FileHandle | undefined): Promise<void> {
    await current?.close();
    current = handle;
    decoder = new StringDecoder("utf8");
  }

  /** The whole lines from here to the end of the open file. */
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

  /** The file that was begun after the open one; undefined when that is the newest. */
  async function following(): Promise<FileHandle | undefined> {
    const own = current && (await idOf(current));
    const placeNow = async (): Promise<number> =>
      own === undefined ? -1 : (await Promise.all(files.map(idOf))).indexOf(own);
    const place = await placeNow();
    if (place === 0) return undefined;
    // Where there was no file, or it moved on so often that it is gone, the oldest one that is left comes next.
    for (const name of files.slice(0, place === -1 ? files.length : place).reverse()) {
      const next = await open(name).catch(unlessAbsent);
      if (!next) continue;
      if ((await placeNow()) === place) return next;
      // The files moved on in between, so this may be a later one: the next look finds the right one.
      await next.close();
      return undefined;
    }
    return undefined;
  }

  return {
    async last(count) {
      // In the moment in which the log starts anew, the newest file has the name of an older one.
      for (const name of files) if (!current) await use(await open(name).catch(unlessAbsent));
      if (!current) return [];
      let lines = await readOn();
      const newest = await idOf(current);
      for (const older of files.slice(1)) {
        if (lines.length >= count) break;
        // That is the one that was just read.
        if ((await idOf(older)) === newest) continue;
        const text = await readFile(older, "utf8").catch(unlessAbsent);
        if (text) lines = text.replace(/\n$/, "").split("\n").concat(lines);
      }
      return count === 0 ? [] : lines.slice(-count);
    },

    async more() {
      let lines: string[] = [];
      for (;;) {
        lines = lines.concat(await readOn());
        const next = await following();
        if (!next) return lines;
        // What was written between the two looks, and the line that its writer never finished.
        lines = lines.concat(await readOn());
        if (rest !== "") lines.push(rest);
        rest = "";
        await use(next);
      }
    },

    rest: () => rest,
    close: () => use(undefined),
  };
}

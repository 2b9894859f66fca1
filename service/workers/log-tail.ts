import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { logFiles } from "./logs";

export type LogTail = ReturnType<typeof createLogTail>;

const readSize = 64 * 1024;

const ignoreMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== "ENOENT") throw error;
  return undefined;
};
const inodeOf = (file: string | FileHandle): Promise<number | undefined> =>
  (typeof file === "string" ? stat(file) : file.stat()).then(({ ino }) => ino, ignoreMissing);

/**
 * Follows a log that another process writes, from its last lines on and across rotations. `file` is the newest file of the log; it need
 * not exist yet, and neither need older files.
 */
export function createLogTail(file: string) {
  const files = logFiles(file);
  // Reads continue in the open file, which stays the same file after a rename.
  let current: FileHandle | undefined;
  let decoder = new StringDecoder("utf8");
  let unfinishedLine = "";

  async function switchTo(handle: FileHandle | undefined): Promise<void> {
    await current?.close();
    current = handle;
    decoder = new StringDecoder("utf8");
  }

  /** Reads the complete lines up to the end of the open file, in parts. */
  async function* completeLines(): AsyncGenerator<string[]> {
    const buffer = Buffer.alloc(readSize);
    while (current) {
      const { bytesRead } = await current.read(buffer, 0, readSize, null);
      if (bytesRead === 0) return;
      const lines = (unfinishedLine + decoder.write(buffer.subarray(0, bytesRead))).split("\n");
      unfinishedLine = lines.pop() ?? "";
      yield lines;
    }
  }

  /** Opens the successor of the open file; undefined if the open file is the newest. */
  async function openNext(): Promise<FileHandle | undefined> {
    const currentInode = current && (await inodeOf(current));
    const currentIndex = async (): Promise<number> =>
      currentInode === undefined ? -1 : (await Promise.all(files.map(inodeOf))).indexOf(currentInode);
    const index = await currentIndex();
    if (index === 0) return undefined;
    // If no file was open, or rotations have removed it, the oldest remaining file is next.
    for (const name of files.slice(0, index === -1 ? files.length : index).reverse()) {
      const next = await open(name).catch(ignoreMissing);
      if (!next) continue;
      if ((await currentIndex()) === index) return next;
      // The log was rotated in between, so this may be a later file; the next call finds the right file.
      await next.close();
      return undefined;
    }
    return undefined;
  }

  return {
    /** Reads the last `count` existing lines. Must be called once, before `newLines`. */
    async readLast(count: number): Promise<string[]> {
      // During a rotation, the newest file has the name of an older file.
      for (const name of files) if (!current) await switchTo(await open(name).catch(ignoreMissing));
      if (!current) return [];
      let lines: string[] = [];
      for await (const part of completeLines()) lines = lines.concat(part);
      const newest = await inodeOf(current);
      for (const older of files.slice(1)) {
        if (lines.length >= count) break;
        // This file has already been read.
        if ((await inodeOf(older)) === newest) continue;
        const text = await readFile(older, "utf8").catch(ignoreMissing);
        if (text) lines = text.replace(/\n$/, "").split("\n").concat(lines);
      }
      return count === 0 ? [] : lines.slice(-count);
    },

    /** Reads the lines written since the last call, in parts: a slow reader of a long log needs memory for one of them. */
    async *newLines(): AsyncGenerator<string[]> {
      for (;;) {
        yield* completeLines();
        const next = await openNext();
        if (!next) return;
        // Reads lines written between the two reads, and an unfinished last line.
        yield* completeLines();
        if (unfinishedLine !== "") yield [unfinishedLine];
        unfinishedLine = "";
        await switchTo(next);
      }
    },

    unfinishedLine: (): string => unfinishedLine,
    close: (): Promise<void> => switchTo(undefined),
  };
}

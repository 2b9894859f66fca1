import { appendFile, mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** A log file that starts anew when it is full; older ones are kept as `<file>.1`, `<file>.2`. */
export interface LogFile {
  write(line: string): void;
  /** Resolves when everything is written. */
  flush(): Promise<void>;
  /** Removes the file and the older ones. */
  remove(): Promise<void>;
}

/** Bytes at which a log starts anew. */
export const fullLog = 5 * 1024 * 1024;

/** Older files that are kept. */
const keptFiles = 2;

/** The files of a log, the newest first; not all of them need to be there. */
export const logFiles = (file: string, older = keptFiles): string[] => [
  file,
  ...Array.from({ length: older }, (_, at) => `${file}.${at + 1}`),
];

/** What becomes of the files when a log starts anew: old and new name, the oldest first. The very oldest is overwritten. */
export function logShifts(file: string, older = keptFiles): [from: string, to: string][] {
  const names = logFiles(file, older);
  return names
    .slice(1)
    .map((next, at): [string, string] => [names[at] ?? file, next])
    .reverse();
}

/** What may wait to be written; a worker that writes faster than the disk loses lines, not the service its memory. */
const bufferLimit = 4 * 1024 * 1024;

export function createLogFile(file: string, maxBytes = fullLog, older = keptFiles): LogFile {
  let buffer = "";
  let dropped = 0;
  let size: number | undefined;
  let writing: Promise<void> | undefined;

  async function rotate(): Promise<void> {
    for (const [name, next] of logShifts(file, older)) await rename(name, next).catch(() => undefined);
    size = 0;
  }

  async function pump(): Promise<void> {
    if (size === undefined) {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      size = await stat(file).then(
        (found) => found.size,
        () => 0,
      );
    }
    while (buffer !== "") {
      const text = buffer;
      buffer = "";
      if (dropped > 0) {
        buffer = `(${dropped} lines were dropped: they came faster than they could be written)\n`;
        dropped = 0;
      }
      if (size > 0 && size + Buffer.byteLength(text) > maxBytes) await rotate();
      await appendFile(file, text, { mode: 0o600 });
      size += Buffer.byteLength(text);
    }
  }

  function start(): void {
    // A log that cannot be written must not end the service.
    writing ??= pump()
      .catch(() => {
        buffer = "";
      })
      .finally(() => {
        writing = undefined;
        if (buffer !== "") start();
      });
  }

  async function flush(): Promise<void> {
    while (writing) await writing;
  }

  return {
    write(line) {
      if (buffer.length > bufferLimit) {
        dropped++;
        return;
      }
      buffer += `${line}\n`;
      start();
    },
    flush,
    async remove() {
      await flush();
      for (const name of logFiles(file, older)) {
        await rm(name, { force: true });
      }
      size = undefined;
    },
  };
}

import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

export type LogFile = ReturnType<typeof createLogFile>;

/** Bytes at which a log is rotated. */
const fullLog = 5 * 1024 * 1024;

/** The files of a log, the newest first; not all of them need to exist. */
export const logFiles = (file: string): string[] => [file, `${file}.1`, `${file}.2`];

/**
 * Creates a log file that only its owner can read, and that is rotated when it is full. It is written synchronously, many lines
 * at a time: a worker that writes faster than the disk has to wait, so that it neither fills the service's memory nor loses lines.
 */
export function createLogFile(file: string, maxBytes = fullLog) {
  let lines = "";
  let size: number | undefined;

  /** Writes the added lines at once. */
  function flush(): void {
    const text = lines;
    lines = "";
    if (text === "") return;
    try {
      size ??= openedSize(file);
      const bytes = Buffer.byteLength(text);
      if (size > 0 && size + bytes > maxBytes) {
        rotate(file);
        size = 0;
      }
      appendFileSync(file, text, { mode: 0o600 });
      size += bytes;
    } catch {
      // A log that cannot be written must not end the service.
      size = undefined;
    }
  }

  return {
    /** Adds a line; it is written at the end of this turn of the event loop. */
    write(line: string): void {
      if (lines === "") setImmediate(flush);
      lines += `${line}\n`;
    },
    flush,
    /** Removes the file and the older ones. */
    remove(): void {
      lines = "";
      size = undefined;
      for (const name of logFiles(file)) rmSync(name, { force: true });
    },
  };
}

function openedSize(file: string): number {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** Renames each file to the next older name; the oldest is overwritten. */
function rotate(file: string): void {
  let older: string | undefined;
  for (const name of logFiles(file).reverse()) {
    if (older !== undefined && existsSync(name)) renameSync(name, older);
    older = name;
  }
}

/** Where the logs of a data folder's endpoints are. */
export const workerLogFolder = (dataFolder: string): string => join(dataFolder, "logs");

/** Where an endpoint's log is; ids are made by the service and safe as names. */
export const workerLogPath = (folder: string, endpointId: string): string => join(folder, `${endpointId}.log`);

export type WorkerLogs = ReturnType<typeof createWorkerLogs>;

/** The output of each endpoint's workers, in `<folder>/<endpoint id>.log`. The folder is created with the first line of a log. */
export function createWorkerLogs(folder: string) {
  const files = new Map<string, LogFile>();
  const of = (endpointId: string): LogFile => {
    const file = files.get(endpointId) ?? createLogFile(workerLogPath(folder, endpointId));
    files.set(endpointId, file);
    return file;
  };
  return {
    of,
    remove(endpointId: string): void {
      of(endpointId).remove();
      files.delete(endpointId);
    },
    /** Writes the added lines of all logs at once. */
    flush(): void {
      for (const file of files.values()) file.flush();
    },
  };
}

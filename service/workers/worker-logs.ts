import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createLogFile, type LogFile } from "./log-file";

/** The output of each endpoint's workers, in `<folder>/<endpoint id>.log`. */
export interface WorkerLogs {
  of(endpointId: string): LogFile;
  remove(endpointId: string): Promise<void>;
  /** Ids of the endpoints that have a log. */
  endpoints(): Promise<string[]>;
  /** Resolves when everything is written. */
  flush(): Promise<void>;
}

/** Where the logs of a data folder's endpoints are. */
export const workerLogFolder = (dataFolder: string): string => join(dataFolder, "logs");

/** Where an endpoint's log is; ids are made by the service and safe as names. */
export const workerLogPath = (folder: string, endpointId: string): string => join(folder, `${endpointId}.log`);

/** What is in a folder; nothing when it is not there. */
export const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  });

export function createWorkerLogs(folder: string): WorkerLogs {
  const files = new Map<string, LogFile>();
  const of = (endpointId: string): LogFile => {
    const file = files.get(endpointId) ?? createLogFile(workerLogPath(folder, endpointId));
    files.set(endpointId, file);
    return file;
  };
  return {
    of,
    async remove(endpointId) {
      const file = of(endpointId);
      files.delete(endpointId);
      await file.remove();
    },
    async endpoints() {
      const names = await namesIn(folder);
      return [...new Set(names.flatMap((name) => /^(.+)\.log(?:\.\d+)?$/.exec(name)?.[1] ?? []))];
    },
    async flush() {
      await Promise.all([...files.values()].map((file) => file.flush()));
    },
  };
}

import { join } from "node:path";
import { createLogFile, type LogFile } from "./log-file";

/** The output of each endpoint's workers, in `<folder>/<endpoint id>.log`. */
export interface WorkerLogs {
  of(endpointId: string): LogFile;
  remove(endpointId: string): Promise<void>;
  /** Resolves when everything is written. */
  flush(): Promise<void>;
}

/** Where the logs of a data folder's endpoints are. */
export const workerLogFolder = (dataFolder: string): string => join(dataFolder, "logs");

/** Where an endpoint's log is; ids are made by the service and safe as names. */
export const workerLogPath = (folder: string, endpointId: string): string => join(folder, `${endpointId}.log`);

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
    async flush() {
      await Promise.all([...files.values()].map((file) => file.flush()));
    },
  };
}

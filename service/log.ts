import { closeSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Logger, pino, stdTimeFunctions } from "pino";
import type { ServiceSettings } from "./settings";
import { fullLog, logShifts } from "./workers/log-file";

/** The service's own log and the end of it. */
export interface ServiceLog {
  log: Logger;
  close(): void;
}

const secretFields = ["apiKey", "value", "password", "env", "input", "output", "authorization"];

/**
 * Opens `service.log` in the data folder (mode 0600); level `silent` makes no file. It starts anew at `maxBytes`.
 * Fields that may be secret are cut out, and so is the API key wherever it stands.
 */
export function openLog(
  settings: Pick<ServiceSettings, "dataFolder" | "logLevel">,
  apiKey: string,
  maxBytes = fullLog,
): ServiceLog {
  const { dataFolder, logLevel } = settings;
  if (logLevel === "silent") return { log: pino({ level: "silent" }), close: () => undefined };
  const file = openRotating(join(dataFolder, "service.log"), maxBytes);
  const log = pino(
    {
      level: logLevel,
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: "[redacted]" },
      hooks: { streamWrite: (line) => line.replaceAll(apiKey, "[redacted]") },
    },
    file,
  );
  return { log, close: file.close };
}

/** A file that is written at once, so that the last words before a crash are in it. */
function openRotating(file: string, maxBytes: number) {
  const open = (): number => openSync(file, "a", 0o600);
  let descriptor: number | undefined = open();
  let size = fstatSync(descriptor).size;

  function rotate(opened: number): number {
    for (const [name, next] of logShifts(file)) {
      try {
        renameSync(name, next);
      } catch {
        // There was none yet.
      }
    }
    const fresh = open();
    closeSync(opened);
    size = 0;
    return fresh;
  }

  return {
    write(line: string): void {
      // Late words of what is still ending.
      if (descriptor === undefined) return;
      const bytes = Buffer.from(line);
      try {
        if (size > 0 && size + bytes.length > maxBytes) descriptor = rotate(descriptor);
        writeSync(descriptor, bytes);
        size += bytes.length;
      } catch {
        // A log that cannot be written must not end the service.
      }
    },
    close(): void {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

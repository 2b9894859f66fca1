import { join } from "node:path";
import { type LevelWithSilent, type Logger, pino, stdTimeFunctions } from "pino";
import { createLogFile } from "./workers/logs";

const secretFields = ["apiKey", "value", "password", "env", "input", "output", "authorization"];
const mask = "[secret]";

/**
 * Opens the service's log, `service.log` in the data folder (mode 0600); level `silent` creates no file.
 * Redacts fields that may be secret, and the API key anywhere in a line.
 */
export function openLog(
  { dataFolder, logLevel }: { dataFolder: string; logLevel: LevelWithSilent },
  apiKey: string,
): { log: Logger; close(): void } {
  if (logLevel === "silent") return { log: pino({ level: "silent" }), close: () => undefined };
  const file = createLogFile(join(dataFolder, "service.log"));
  let isOpen = true;
  const write = (line: string): void => {
    // After this service has ended, another service may use the folder.
    if (!isOpen) return;
    file.write(line.trimEnd().replaceAll(apiKey, mask));
    // Flushed immediately, so that the last lines before a crash are in the file.
    file.flush();
  };
  const log = pino(
    {
      level: logLevel,
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: mask },
    },
    { write },
  );
  return {
    log,
    close: () => {
      isOpen = false;
    },
  };
}

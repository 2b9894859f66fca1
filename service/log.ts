import { join } from "node:path";
import { destination, type Logger, pino, stdTimeFunctions } from "pino";
import type { ServiceSettings } from "./settings";

/** The service's own log and the end of it. */
export interface ServiceLog {
  log: Logger;
  close(): void;
}

const secretFields = ["apiKey", "value", "password", "env", "input", "output", "authorization"];

/**
 * Opens `service.log` in the data folder (mode 0600); level `silent` makes no file.
 * Fields that may be secret are cut out, and so is the API key wherever it stands.
 */
export function openLog(settings: Pick<ServiceSettings, "dataFolder" | "logLevel">, apiKey: string): ServiceLog {
  const { dataFolder, logLevel } = settings;
  if (logLevel === "silent") return { log: pino({ level: "silent" }), close: () => undefined };
  const file = destination({ dest: join(dataFolder, "service.log"), mode: 0o600, sync: true });
  const log = pino(
    {
      level: logLevel,
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: "[redacted]" },
      hooks: { streamWrite: (line) => line.replaceAll(apiKey, "[redacted]") },
    },
    file,
  );
  return { log, close: () => file.end() };
}

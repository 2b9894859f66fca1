import { join } from "node:path";
import { type Logger, pino, stdTimeFunctions } from "pino";
import type { ServiceSettings } from "./settings";
import { createLogFile } from "./workers/logs";

/** The service's own log and the end of it. */
export interface ServiceLog {
  log: Logger;
  close(): void;
}

const secretFields = ["apiKey", "value", "password", "env", "input", "output", "authorization"];
const mask = "[secret]";

/**
 * Opens `service.log` in the data folder (mode 0600); level `silent` makes no file. It starts anew at `maxBytes`.
 * Fields that may be secret are cut out, and so is the API key wherever it stands.
 */
export function openLog(
  settings: Pick<ServiceSettings, "dataFolder" | "logLevel">,
  apiKey: string,
  maxBytes?: number,
): ServiceLog {
  const { dataFolder, logLevel } = settings;
  if (logLevel === "silent") return { log: pino({ level: "silent" }), close: () => undefined };
  const file = createLogFile(join(dataFolder, "service.log"), maxBytes);
  let open = true;
  const write = (line: string): void => {
    // After the end, another service may have the folder.
    if (!open) return;
    file.write(line.trimEnd().replaceAll(apiKey, mask));
    // At once, so that the last words before a crash are in it.
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
      open = false;
    },
  };
}

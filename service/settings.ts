import { join, resolve } from "node:path";
import { type Clock, systemClock } from "serverless-compute-api/clock";
import { limits, showValue } from "serverless-compute-api/shapes";
import { StartError } from "./errors";
import { type JobTimings, resolveTimings } from "./jobs/timings";

/** What `createService` and the command line take; everything has a default. Times in milliseconds. */
export interface ServiceOptions {
  /** Port on 127.0.0.1; 0 takes a free one. Default 7337. */
  port?: number;
  /** Folder that holds the database, the key file and the logs. Default `.serverless-compute/service`. */
  dataFolder?: string;
  /** Image name → what runs here for it: a command line, or the path of a .mjs, .js or .ts handler file. */
  images?: Record<string, string>;
  /** How long a template stays in use after its last endpoint let go of it. Default 120000. */
  templateRelease?: number;
  /** Shape of /stream answers: the interface's bare array, or the envelope that the SDKs read. Default `array`. */
  stream?: "array" | "envelope";
  /** Whether requests beyond the interface's rate limits are refused; `off` is for load tests of one's own handlers. Default `on`. */
  rateLimits?: "on" | "off";
  /** Whether REST refuses to delete an endpoint that still allows workers, as GraphQL always does. Default false. */
  deleteNeedsScaleDown?: boolean;
  /** Waits of the job path that are to be other than the defaults; docs/service.md, Waits, lists them. */
  timings?: Partial<JobTimings>;
  /** Default: the machine's clock. */
  clock?: Clock;
  /** Default `info` for the command line, `silent` when embedded. */
  logLevel?: "silent" | "error" | "warn" | "info" | "debug";
}

export type ServiceSettings = Required<Omit<ServiceOptions, "timings">> & { timings: JobTimings };

/** Port that clients try when they are told no address. */
export const defaultPort = 7337;

/** Data folder when none is named: under the current folder. */
export const defaultDataFolder = (): string => join(process.cwd(), ".serverless-compute", "service");

const levels = ["silent", "error", "warn", "info", "debug"];

/** What is wrong with options of a program that no compiler has checked; each names the option, its value and what is allowed. */
function checkOptions({ port, templateRelease, stream, rateLimits, logLevel }: ServiceOptions): void {
  const check = (name: string, value: unknown, right: boolean, allowed: string): void => {
    if (value !== undefined && !right)
      throw new StartError(`${name}: ${showValue(value)} is not allowed, must be ${allowed}`);
  };
  const whole = (value: number | undefined, max: number): boolean =>
    Number.isSafeInteger(value) && value !== undefined && value >= 0 && value <= max;
  check("port", port, whole(port, 65_535), "a whole number from 0 to 65535");
  const milliseconds = "a whole number of milliseconds, 0 or more";
  check("templateRelease", templateRelease, whole(templateRelease, Number.MAX_SAFE_INTEGER), milliseconds);
  check("stream", stream, stream === "array" || stream === "envelope", '"array" or "envelope"');
  check("rateLimits", rateLimits, rateLimits === "on" || rateLimits === "off", '"on" or "off"');
  check("logLevel", logLevel, levels.includes(String(logLevel)), `one of ${levels.join(", ")}`);
}

/** Options with every default filled in; throws a StartError for one that cannot be. */
export function resolveSettings(options: ServiceOptions): ServiceSettings {
  checkOptions(options);
  return {
    port: options.port ?? defaultPort,
    dataFolder: resolve(options.dataFolder ?? defaultDataFolder()),
    images: options.images ?? {},
    templateRelease: options.templateRelease ?? limits.templateRelease,
    stream: options.stream ?? "array",
    rateLimits: options.rateLimits ?? "on",
    deleteNeedsScaleDown: options.deleteNeedsScaleDown ?? false,
    timings: resolveTimings(options.timings ?? {}),
    clock: options.clock ?? systemClock,
    logLevel: options.logLevel ?? "silent",
  };
}

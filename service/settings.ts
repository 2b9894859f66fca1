import { join, resolve } from "node:path";
import { type Clock, systemClock } from "serverless-compute-api/clock";
import { limits, showValue } from "serverless-compute-api/shapes";
import { isApiKey } from "./api-key";
import { StartError } from "./errors";
import { type JobTimings, resolveTimings } from "./jobs/timings";
import { checkListening, defaultHost, type Listening } from "./listening";
import { type EngineAddress, findEngine } from "./workers/containers/engine-address";
import type { GpuMode } from "./workers/containers/spec";

/** The APIs that the hosted service retires. */
export const oldApis = ["v1", "graphql"] as const;
export type OldApi = (typeof oldApis)[number];

/** What `createService` and the command line take; everything has a default. Times in milliseconds. */
export interface ServiceOptions {
  /** Port; 0 takes a free one. Default 7337. */
  port?: number;
  /** Address of this machine to listen on. Default 127.0.0.1; one that other machines can reach needs `allowHosts`. */
  host?: string;
  /** Names by which clients may reach the service, beside those of loopback: other Host headers are refused with 421. */
  allowHosts?: readonly string[];
  /** The API key. Default: the data folder's own, which is made at its first start. */
  apiKey?: string | undefined;
  /** Folder that holds the database, the key file and the logs. Default `.serverless-compute/service`. */
  dataFolder?: string;
  /** Image name → what runs here for it: a command line, or the path of a .mjs, .js or .ts handler file. */
  images?: Record<string, string>;
  /**
   * What runs an image that `images` has no entry for: a container of it (`docker`), one where a Docker Engine answers (`auto`),
   * or nothing. Default `auto`.
   */
  runtime?: "auto" | "docker" | "none";
  /**
   * Which workers in containers get GPUs of this machine, as many as their endpoint's gpuCount says: those of GPU endpoints where the
   * engine has GPUs (`auto`), the same or they fail (`all`), or none. Default `auto`.
   */
  gpus?: GpuMode;
  /** How long a template stays in use after its last endpoint let go of it. Default 120000. */
  templateRelease?: number;
  /** Shape of /stream answers: the interface's bare array, or the envelope that the SDKs read. Default `auto`: the envelope for those SDKs. */
  stream?: "auto" | "array" | "envelope";
  /** True if requests beyond the interface's rate limits are refused; `off` is for load tests of one's own handlers. Default `on`. */
  rateLimits?: "on" | "off";
  /** APIs that respond with 410 to every request, as after their retirement. Default: none. */
  retire?: readonly OldApi[];
  /** True if REST v1 and GraphQL refuse to delete an endpoint that still allows workers. Default false. */
  deleteNeedsScaleDown?: boolean;
  /** Elements in a page of a REST v2 list where a request has no limit. Default 1000. */
  pageSize?: number;
  /** True if the service has its web page, the console. Default true. */
  console?: boolean;
  /** True if a saved source file in the folder of a handler of `images` restarts its workers, after their jobs. Default false. */
  watch?: boolean;
  /** Waits of the job path that are to be other than the defaults; docs/service.md, Waits, lists them. */
  timings?: Partial<JobTimings>;
  /** Default: the machine's clock. */
  clock?: Clock;
  /** Receives each sentence that the user should read although the service goes on, such as moved files or a full disk. */
  onNotice?: (text: string) => void;
  /** Default `info` for the command line, `silent` when embedded. */
  logLevel?: "silent" | "error" | "warn" | "info" | "debug";
}

export type ServiceSettings = Required<Omit<ServiceOptions, "timings" | "apiKey" | keyof Listening>> & {
  listening: Listening;
  apiKey: string | undefined;
  timings: JobTimings;
  /** Where the Docker Engine is; throws an Error that says why that is unknown. */
  engine(): EngineAddress;
};

/** Port that clients try when they are told no address. */
export const defaultPort = 7337;

/** Data folder when none is named: under the current folder. */
export const defaultDataFolder = (): string => join(process.cwd(), ".serverless-compute", "service");

const levels = ["silent", "error", "warn", "info", "debug"];

/** What is wrong with options of a program that no compiler has checked; each names the option, its value and what is allowed. */
function checkOptions(options: ServiceOptions): void {
  const { port, runtime, gpus, templateRelease, stream, rateLimits, retire, logLevel } = options;
  const check = (name: string, value: unknown, right: boolean, allowed: string): void => {
    if (value !== undefined && !right)
      throw new StartError(`${name}: ${showValue(value)} is not allowed, must be ${allowed}`);
  };
  const whole = (value: number | undefined, max: number): boolean =>
    Number.isSafeInteger(value) && value !== undefined && value >= 0 && value <= max;
  check("port", port, whole(port, 65_535), "a whole number from 0 to 65535");
  const oneOf = (name: string, value: unknown, allowed: string[]): void =>
    check(name, value, allowed.includes(String(value)), `one of ${allowed.join(", ")}`);
  oneOf("runtime", runtime, ["auto", "docker", "none"]);
  oneOf("gpus", gpus, ["auto", "all", "none"]);
  const milliseconds = "a whole number of milliseconds, 0 or more";
  check("templateRelease", templateRelease, whole(templateRelease, Number.MAX_SAFE_INTEGER), milliseconds);
  const { pageSize } = options;
  check("pageSize", pageSize, pageSize !== 0 && whole(pageSize, 1000), "a whole number from 1 to 1000");
  check("stream", stream, ["auto", "array", "envelope"].includes(String(stream)), '"auto", "array" or "envelope"');
  check("rateLimits", rateLimits, rateLimits === "on" || rateLimits === "off", '"on" or "off"');
  const isOld = Array.isArray(retire) && retire.every((api) => oldApis.includes(api));
  check("retire", retire, isOld, `a list of ${oldApis.join(", ")}`);
  oneOf("logLevel", logLevel, levels);
  if (options.apiKey !== undefined && !isApiKey(options.apiKey))
    throw new StartError(`${apiKeyVariable}: must be 16 or more printable characters without spaces`);
}

/** The variable with the API key that a service is to have. */
const apiKeyVariable = "SERVERLESS_COMPUTE_LOCAL_API_KEY";

/** The API key that the environment gives the service; undefined where it gives none. */
export const apiKeyOfEnvironment = (): string | undefined => process.env[apiKeyVariable] || undefined;

/** Returns true if `npx` started this command itself, and not something that started it and may end before it. */
export function isStartedByNpx(): boolean {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script } = process.env;
  return event === "npx" && script?.includes("serverless-compute-local") === true;
}

/** Where the Docker Engine of this machine is; throws an Error that says why that is unknown. */
export const findLocalEngine = (): EngineAddress => findEngine(process.env);

/** Options with every default filled in; throws a StartError for one that cannot be. */
export function resolveSettings(options: ServiceOptions): ServiceSettings {
  checkOptions(options);
  return {
    port: options.port ?? defaultPort,
    listening: checkListening({ host: options.host ?? defaultHost, allowHosts: options.allowHosts ?? [] }),
    apiKey: options.apiKey,
    dataFolder: resolve(options.dataFolder ?? defaultDataFolder()),
    images: options.images ?? {},
    runtime: options.runtime ?? "auto",
    gpus: options.gpus ?? "auto",
    engine: findLocalEngine,
    templateRelease: options.templateRelease ?? limits.templateRelease,
    stream: options.stream ?? "auto",
    rateLimits: options.rateLimits ?? "on",
    retire: options.retire ?? [],
    deleteNeedsScaleDown: options.deleteNeedsScaleDown ?? false,
    pageSize: options.pageSize ?? 1000,
    console: options.console ?? true,
    watch: options.watch ?? false,
    timings: resolveTimings(options.timings ?? {}),
    clock: options.clock ?? systemClock,
    onNotice: options.onNotice ?? (() => undefined),
    logLevel: options.logLevel ?? "silent",
  };
}

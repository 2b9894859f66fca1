import { join, resolve } from "node:path";
import { type Clock, systemClock } from "serverless-compute-api/clock";
import { limits, showValue } from "serverless-compute-api/shapes";
import { type RetirableApi, retirableApis, ServiceError, StartError } from "./errors";
import { type JobTimings, resolveTimings } from "./jobs/timings";
import { checkListening, defaultHost, type Listening } from "./listening";
import { checkStock, type StockEntries } from "./resources/stock";
import { isApiKey } from "./store/api-key";
import { type RuntimeName, runtimeNames } from "./workers/runtimes";
import { type EngineAddress, findEngine } from "./workers/runtimes/container/engine-address";
import type { GpuMode } from "./workers/runtimes/container/spec";
import { type KubernetesOptions, type KubernetesSettings, resolveKubernetes } from "./workers/runtimes/pod/settings";

/** Options of `createService` and the command line; all are optional. Times in milliseconds. */
export interface ServiceOptions {
  /** Port; 0 selects a free one. Default 7337. */
  port?: number;
  /** Address to listen on. Default 127.0.0.1; any address but loopback requires `allowHosts`. */
  host?: string;
  /** Host names that clients may use, in addition to loopback; other Host headers are rejected with 421. */
  allowHosts?: readonly string[];
  /** The API key. Default: the key in the data folder, which is generated at its first start. */
  apiKey?: string | undefined;
  /**
   * Path of a seed file (docs/service.md, Seed file): objects that do not exist are created, differences are reported through
   * `onNotice`, and its images are added to `images`.
   */
  seed?: string | undefined;
  /** Folder of the database, the key file and the logs. Default `.serverless-compute/service`. */
  dataFolder?: string | undefined;
  /** True to use a temporary data folder, which is removed when the service stops. Default false. */
  ephemeral?: boolean;
  /** Image name → command line, or path of a handler file (.mjs, .js or .ts), that runs the image. */
  images?: Record<string, string>;
  /**
   * Runtime of images without an entry in `images`: a container (`docker`), a container if a Docker Engine is reachable
   * (`auto`), a pod of a Kubernetes cluster (`kubernetes`), or none. Default `auto`.
   */
  runtime?: RuntimeName | undefined;
  /**
   * GPUs for workers of GPU endpoints in containers, `gpuCount` each: if the engine has GPUs (`auto`), always, so that workers
   * fail without GPUs (`all`), or never (`none`). Default `auto`.
   */
  gpus?: GpuMode;
  /** Options of the runtime `kubernetes`: the cluster, and how pods use it. */
  kubernetes?: KubernetesOptions | undefined;
  /**
   * Stock by GPU type or CPU flavour (`ID`), or in one data centre (`ID@DATACENTER`): NONE, LOW, MEDIUM or HIGH. With NONE, no worker
   * starts. Default: HIGH.
   */
  stock?: StockEntries;
  /** Maximum sum of `workersMax` over all endpoints. Default: no limit. */
  workerQuota?: number | undefined;
  /** Time that a template stays in use after its last endpoint released it. Default 120000. */
  templateRelease?: number;
  /** Time after its submission for which /status, /stream, /cancel and /retry do not find a job. Default 0. */
  jobVisibilityDelay?: number;
  /** Shape of /stream responses: the interface's bare array, or the SDKs' envelope. Default `auto`: the envelope for those SDKs only. */
  stream?: "auto" | "array" | "envelope";
  /** Rate limits of the interface; `off` is for load tests of handlers. Default `on`. */
  rateLimits?: "on" | "off";
  /** APIs that respond with 410 to every request, as after their retirement. Default: none. */
  retire?: readonly RetirableApi[];
  /** True if REST v1 and GraphQL reject the delete of an endpoint whose `workersMax` is above 0. Default false. */
  deleteNeedsScaleDown?: boolean;
  /** Default page size of REST v2 lists. Default 1000. */
  pageSize?: number;
  /** True if the service serves the console. Default true. */
  console?: boolean;
  /** True if workers restart, after their jobs, when a source file in the folder of their handler changes. Default false. */
  watch?: boolean;
  /** Overrides of the job path's timings; docs/service.md, Waits, lists them. */
  timings?: Partial<JobTimings>;
  /** Default: the machine's clock. */
  clock?: Clock;
  /** Receives warnings for the user, such as moved files or a full disk. */
  onNotice?: (text: string) => void;
  /** Default `info` for the command line, `silent` when embedded. */
  logLevel?: "silent" | "error" | "warn" | "info" | "debug";
}

export type ServiceSettings = Required<
  Omit<
    ServiceOptions,
    | "timings"
    | "apiKey"
    | "dataFolder"
    | "ephemeral"
    | "seed"
    | "workerQuota"
    | "kubernetes"
    | "runtime"
    | keyof Listening
  >
> & {
  dataFolder: string;
  listening: Listening;
  apiKey: string | undefined;
  workerQuota: number | undefined;
  runtime: RuntimeName;
  kubernetes: KubernetesSettings;
  timings: JobTimings;
  /** Returns the address of the Docker Engine; throws an Error with the reason if none is found. */
  engine(): EngineAddress;
};

/** Default port of the service and its clients. */
export const defaultPort = 7337;

/** Default data folder, in the current folder. */
export const defaultDataFolder = (): string => join(process.cwd(), ".serverless-compute", "service");

const levels = ["silent", "error", "warn", "info", "debug"];

/** Checks options at run time, because a program may be plain JavaScript. Errors name the option, its value and the allowed values. */
function checkOptions(options: ServiceOptions): void {
  const { port, runtime, gpus, templateRelease, stream, rateLimits, retire, logLevel } = options;
  const check = (name: string, value: unknown, isValid: boolean, allowed: string): void => {
    if (value !== undefined && !isValid)
      throw new StartError(`${name}: ${showValue(value)} is not allowed; must be ${allowed}`);
  };
  const isIntegerUpTo = (value: number | undefined, max: number): boolean =>
    Number.isSafeInteger(value) && value !== undefined && value >= 0 && value <= max;
  check("port", port, isIntegerUpTo(port, 65_535), "a whole number from 0 to 65535");
  const oneOf = (name: string, value: unknown, allowed: readonly string[]): void =>
    check(name, value, allowed.includes(String(value)), `one of ${allowed.join(", ")}`);
  oneOf("runtime", runtime, runtimeNames);
  oneOf("gpus", gpus, ["auto", "all", "none"]);
  const milliseconds = "a whole number of milliseconds, 0 or more";
  check("templateRelease", templateRelease, isIntegerUpTo(templateRelease, Number.MAX_SAFE_INTEGER), milliseconds);
  const { jobVisibilityDelay, pageSize, workerQuota } = options;
  check(
    "jobVisibilityDelay",
    jobVisibilityDelay,
    isIntegerUpTo(jobVisibilityDelay, Number.MAX_SAFE_INTEGER),
    milliseconds,
  );
  check("pageSize", pageSize, pageSize !== 0 && isIntegerUpTo(pageSize, 1000), "a whole number from 1 to 1000");
  check("workerQuota", workerQuota, isIntegerUpTo(workerQuota, Number.MAX_SAFE_INTEGER), "a whole number, 0 or more");
  oneOf("stream", stream, ["auto", "array", "envelope"]);
  oneOf("rateLimits", rateLimits, ["on", "off"]);
  const isRetirable = Array.isArray(retire) && retire.every((api) => retirableApis.includes(api));
  check("retire", retire, isRetirable, `a list of ${retirableApis.join(", ")}`);
  oneOf("logLevel", logLevel, levels);
  try {
    checkStock(options.stock ?? {});
  } catch (error) {
    throw error instanceof ServiceError ? new StartError(error.message) : error;
  }
  const { ephemeral, dataFolder } = options;
  check("dataFolder", dataFolder, dataFolder !== "", "the path of a folder");
  check("ephemeral", ephemeral, !ephemeral || dataFolder === undefined, "false if dataFolder is set");
  if (options.apiKey !== undefined && !isApiKey(options.apiKey))
    throw new StartError(`${apiKeyVariable}: must be 16 or more printable characters without spaces`);
}

/** Environment variable of the service's API key. */
const apiKeyVariable = "SERVERLESS_COMPUTE_LOCAL_API_KEY";

/** Returns the API key from the environment; undefined if none is set. */
export const apiKeyOfEnvironment = (): string | undefined => process.env[apiKeyVariable] || undefined;

/** Returns the value of an environment variable for a seed file. */
export const environmentValue = (name: string): string | undefined => process.env[name];

/** Returns true if `npx` started this process directly. */
export function isStartedByNpx(): boolean {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script } = process.env;
  return event === "npx" && script?.includes("serverless-compute-local") === true;
}

/** Returns the address of this machine's Docker Engine; throws an Error with the reason if none is found. */
export const findLocalEngine = (): EngineAddress => findEngine(process.env);

/** Fills in all defaults; throws a StartError for an invalid option. */
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
    kubernetes: resolveKubernetes(options.kubernetes ?? {}),
    engine: findLocalEngine,
    stock: options.stock ?? {},
    workerQuota: options.workerQuota,
    templateRelease: options.templateRelease ?? limits.templateRelease,
    jobVisibilityDelay: options.jobVisibilityDelay ?? 0,
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

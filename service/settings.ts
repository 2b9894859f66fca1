import { join, resolve } from "node:path";
import { ServiceError, StartError } from "./errors";
import { checkListening, type Listening } from "./listening";
import { optionsShape, type ServiceOptions } from "./options";
import { checkStock } from "./resources/stock";
import type { Seed } from "./seed/seed-file";
import { isApiKey } from "./store/api-key";
import { resolveTimings, type ServiceTimings } from "./timings";
import { parseInput } from "./validation";
import { type EngineAddress, findEngine } from "./workers/runtimes/container/engine-address";
import { type KubernetesSettings, kubernetesShape } from "./workers/runtimes/pod/settings";

type CheckedOptions = ReturnType<typeof parseOptions>;

export interface ServiceSettings
  extends Omit<CheckedOptions, "dataFolder" | "kubernetes" | "timings" | "seed" | "ephemeral" | keyof Listening> {
  dataFolder: string;
  listening: Listening;
  kubernetes: KubernetesSettings;
  timings: ServiceTimings;
  /** Returns the address of the Docker Engine; throws an Error with the reason if none is found. */
  engine(): EngineAddress;
}

/** Default data folder, in the current folder. */
export const defaultDataFolder = (): string => join(process.cwd(), ".serverless-compute", "service");

/** Checks options at run time, because a program may be plain JavaScript. Throws a StartError. */
function parseOptions(options: object) {
  const checked = withStartError(() => parseInput(optionsShape, options));
  const { apiKey, ephemeral, dataFolder } = checked;
  if (ephemeral && dataFolder !== undefined)
    throw new StartError("ephemeral: true is not allowed with a dataFolder; remove one of them");
  if (apiKey !== undefined && !isApiKey(apiKey))
    throw new StartError("apiKey: must be 16 or more printable characters without spaces");
  return checked;
}

/** Returns the result of `work`; throws a StartError instead of a ServiceError. */
export function withStartError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof ServiceError ? new StartError(error.message) : error;
  }
}

/** Requires valid options; throws a StartError that names each invalid option, its value and the allowed values. */
export function checkOptions(options: object): asserts options is ServiceOptions {
  parseOptions(options);
}

/** Environment variable of the service's API key. */
const apiKeyVariable = "SERVERLESS_COMPUTE_LOCAL_API_KEY";

/** Returns the API key from the environment; undefined if none is set. Throws a StartError for an invalid one. */
export function apiKeyOfEnvironment(): string | undefined {
  const key = process.env[apiKeyVariable] || undefined;
  if (key === undefined || isApiKey(key)) return key;
  throw new StartError(`${apiKeyVariable}: must be 16 or more printable characters without spaces`);
}

/** Returns the value of an environment variable for a seed file. */
export const environmentValue = (name: string): string | undefined => process.env[name];

/** Returns true if `npx` started this process directly. */
export function isStartedByNpx(): boolean {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script } = process.env;
  return event === "npx" && script?.includes("serverless-compute-local") === true;
}

/** Returns the address of this machine's Docker Engine; throws an Error with the reason if none is found. */
export const findLocalEngine = (): EngineAddress => findEngine(process.env);

const isSet = ([, value]: readonly [string, unknown]): boolean => value !== undefined;

/** The options that are set. */
const setOptions = (options: object) => Object.fromEntries(Object.entries(options).filter(isSet));

/** Returns the settings: the options, then those of the seed file, then the defaults. Throws a StartError for an invalid option. */
export function resolveSettings(options: ServiceOptions, seed?: Seed): ServiceSettings {
  const {
    host,
    allowHosts,
    kubernetes,
    timings,
    ephemeral: _ephemeral,
    seed: _seed,
    ...checked
  } = parseOptions({
    ...seed?.simulate,
    ...(seed?.runtime === undefined ? {} : { runtime: seed.runtime }),
    ...setOptions(options),
    images: { ...seed?.images, ...options.images },
    stock: { ...seed?.simulate.stock, ...options.stock },
    kubernetes: { ...seed?.kubernetes, ...options.kubernetes },
  });
  withStartError(() => checkStock(checked.stock));
  return {
    ...checked,
    listening: checkListening({ host, allowHosts }),
    dataFolder: resolve(checked.dataFolder ?? defaultDataFolder()),
    kubernetes: kubernetes ?? kubernetesShape.parse({}),
    timings: resolveTimings(timings ?? {}),
    engine: findLocalEngine,
  };
}

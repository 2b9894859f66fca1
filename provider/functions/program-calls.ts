import type {
  DataCenterRecord,
  EndpointHealth,
  EndpointRecord,
  GpuTypeRecord,
  NetworkVolumeRecord,
  RegistryAuthRecord,
  SecretRecord,
  TemplateRecord,
} from "serverless-compute-api";
import type { CallContext } from "../framework/calls";
import { noSecrets } from "../framework/contract";
import type { InvokeJobArgs, JobInvokeOutputs } from "../resources/job-invoke/inputs";
import { programSettings } from "../settings/program-config";
import { optionNames } from "../settings/setting-names";
import type { Settings } from "../settings/settings";
import type { functions } from "./functions";
import type { LookUp } from "./lookup";

export type { InvokeJobArgs, LookUp };

/** Options of a lookup. */
export interface LookUpOptions {
  /** Addresses and settings of the service; defaults to the stack's config or the environment, as for resources. */
  settings?: Pick<Settings, "clients">;
  /** Cancels the lookup, which then rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** Options of {@link invokeJob}, whose signal also cancels the job on the service. */
export interface InvokeJobOptions extends LookUpOptions {
  /** Receives progress: the job's state and the elapsed seconds. */
  onProgress?: (text: string) => void;
}

/** Runs a call with its own clients, which are loaded on demand so that other programs start faster. */
async function withClients<Result>(
  options: InvokeJobOptions,
  action: (context: CallContext) => Promise<Result>,
): Promise<Result> {
  try {
    const { createClients, systemClock } = await import("serverless-compute-api");
    const { lifecycle, ...settings }: Settings = options.settings
      ? { ...options.settings, lifecycle: { templateReleaseLimit: 0, names: optionNames } }
      : programSettings();
    const clients = createClients(settings.clients);
    try {
      return await action({
        clients,
        settings: lifecycle,
        clock: settings.clients.clock ?? systemClock,
        signal: options.signal ?? new AbortController().signal,
        progress: options.onProgress ?? (() => {}),
        secrets: noSecrets,
      });
    } finally {
      await clients.close();
    }
  } catch (thrown) {
    throw withoutStack(thrown);
  }
}

/**
 * Marks an error as Pulumi's RunError, which Pulumi prints without the stack. Pulumi formats the stack in any case, which can take
 * half a minute under Node 20 if it contains frames of installed packages, so only frames of the user's program are kept.
 */
function withoutStack(thrown: unknown): unknown {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    const frames = error.stack?.split("\n").filter((line) => !/^\s+at .*[/\\]node_modules[/\\]/.test(line));
    if (frames) error.stack = frames.join("\n");
  }
  if (thrown instanceof Error) Object.defineProperty(thrown, "__pulumiRunError", { value: true });
  return thrown;
}

/** Runs one of the functions, which are loaded on demand. */
const call = <Result>(
  options: LookUpOptions,
  run: (table: typeof functions, context: CallContext) => Promise<Result>,
): Promise<Result> => withClients(options, async (context) => run((await import("./functions.js")).functions, context));

/**
 * Finds an existing template, for example one of another stack:
 * ```ts
 * const { id } = await getTemplate({ name: "chat-prod" });
 * new ServerlessEndpoint("chat", { templateId: id });
 * ```
 * Rejects if no template matches, or if several templates have the name.
 */
export const getTemplate = (
  lookup: LookUp,
  options: LookUpOptions = {},
): Promise<TemplateRecord & { revision: string }> =>
  call(options, ({ getTemplate: { run } }, context) => run(lookup, context));

/** Finds an endpoint by its id or unique name. `url` is the root of its job API; `imageName` is the image of new workers. */
export const getServerlessEndpoint = (
  lookup: LookUp,
  options: LookUpOptions = {},
): Promise<EndpointRecord & { url: string; imageName?: string | undefined; revision?: string | undefined }> =>
  call(options, ({ getServerlessEndpoint: { run } }, context) => run(lookup, context));

/** Finds a network volume by its id or unique name. */
export const getNetworkVolume = (lookup: LookUp, options: LookUpOptions = {}): Promise<NetworkVolumeRecord> =>
  call(options, ({ getNetworkVolume: { run } }, context) => run(lookup, context));

/** Finds registry credentials by their id or unique name, for a container of this program. User name and password cannot be read. */
export const getContainerRegistryAuth = (lookup: LookUp, options: LookUpOptions = {}): Promise<RegistryAuthRecord> =>
  call(options, ({ getContainerRegistryAuth: { run } }, context) => run(lookup, context));

/** Finds a secret by its id or name. `reference` is the text for a template's env; the value cannot be read. */
export const getSecret = (lookup: LookUp, options: LookUpOptions = {}): Promise<SecretRecord & { reference: string }> =>
  call(options, ({ getSecret: { run } }, context) => run(lookup, context));

/**
 * Lists the GPU types of the service, cheapest first, for programs that select by memory and price:
 * ```ts
 * const gpuTypes = await getGpuTypes();
 * const gpuTypeIds = gpuTypes.filter(({ pool, memoryInGb = 0 }) => pool && memoryInGb >= 40).map(({ id }) => id).slice(0, 3);
 * ```
 * `pool` is set if serverless endpoints support the type.
 */
export const getGpuTypes = (lookup: { pool?: string } = {}, options: LookUpOptions = {}): Promise<GpuTypeRecord[]> =>
  call(options, async ({ getGpuTypes: { run } }, context) => (await run(lookup, context)).gpuTypes);

/** Lists the data centres of the service or of one region. */
export const getDataCenters = (
  lookup: { region?: string } = {},
  options: LookUpOptions = {},
): Promise<DataCenterRecord[]> =>
  call(options, async ({ getDataCenters: { run } }, context) => (await run(lookup, context)).dataCenters);

/** Counts the current jobs and workers of an endpoint (interface: Queue health). */
export const getEndpointHealth = (endpointId: string, options: LookUpOptions = {}): Promise<EndpointHealth> =>
  call(options, ({ getEndpointHealth: { run } }, context) => run({ endpointId }, context));

/**
 * Runs a job from a script or a pipeline and waits for its result, like the resource JobInvoke:
 * ```ts
 * const { output } = await invokeJob({ endpointId, input: { prompt: "ping" }, expect: { output: { text: "pong" } } });
 * ```
 * Rejects with an explanation if the job does not end as expected.
 */
export const invokeJob = (args: InvokeJobArgs, options: InvokeJobOptions = {}): Promise<JobInvokeOutputs> =>
  withClients(options, async (context) =>
    (await import("../resources/job-invoke/job-result.js")).invokeJob(args, context),
  );

import type {
  DataCenterRecord,
  EndpointHealth,
  EndpointRecord,
  GpuTypeRecord,
  NetworkVolumeRecord,
  SecretRecord,
  TemplateRecord,
} from "serverless-compute-api";
import type { Context } from "../lifecycle/contract";
import type { InvokeJobArgs, JobInvokeOutputs } from "../resources/job-invoke/inputs";
import { programSettings } from "../settings/program-config";
import type { Settings } from "../settings/settings";
import type { LookUp } from "./lookups";

export type { InvokeJobArgs, LookUp };

/** How a look-up is made. */
export interface LookUpOptions {
  /** Addresses and settings of the service; default: the stack's config or the environment, as for resources. */
  settings?: Pick<Settings, "clients">;
  /** Cancels the lookup, which rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** How a job is run from a script. */
export interface InvokeJobOptions {
  /** Addresses and settings of the service; default: the stack's config or the environment, as for resources. */
  settings?: Pick<Settings, "clients">;
  /** Cancels the job on the service, then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Receives progress: the job's state and the elapsed seconds. */
  onProgress?: (text: string) => void;
}

/** Runs one call over clients of its own. They are loaded here, so that a program without such calls starts without them. */
async function calling<Answer>(
  options: InvokeJobOptions,
  act: (context: Pick<Context, "clients" | "clock" | "signal" | "progress">) => Promise<Answer>,
): Promise<Answer> {
  try {
    const { createClients, systemClock } = await import("serverless-compute-api");
    const settings = options.settings ?? programSettings();
    const clients = createClients(settings.clients);
    try {
      return await act({
        clients,
        clock: settings.clients.clock ?? systemClock,
        signal: options.signal ?? new AbortController().signal,
        progress: options.onProgress ?? (() => {}),
      });
    } finally {
      await clients.close();
    }
  } catch (thrown) {
    throw inOneLine(thrown);
  }
}

/**
 * Prepares an error for Pulumi, which prints one with this mark, as its own RunError has it, without its stack. It colours
 * the stack all the same, and Node 20 can take half a minute for that when it leads through installed packages: only
 * the places in the user's own program stay.
 */
function inOneLine(thrown: unknown): unknown {
  for (let one = thrown; one instanceof Error; one = one.cause) {
    const places = one.stack?.split("\n").filter((line) => !/^\s+at .*[/\\]node_modules[/\\]/.test(line));
    if (places) one.stack = places.join("\n");
  }
  if (thrown instanceof Error) Object.defineProperty(thrown, "__pulumiRunError", { value: true });
  return thrown;
}

const lookUps = () => import("./lookups.js");

/**
 * An existing template, for example of another stack:
 * ```ts
 * const { id } = await getTemplate({ name: "chat-prod" });
 * new ServerlessEndpoint("chat", { templateId: id });
 * ```
 * Rejects when there is none, or when a name fits several.
 */
export const getTemplate = (
  which: LookUp,
  options: LookUpOptions = {},
): Promise<TemplateRecord & { revision: string }> =>
  calling(options, async (context) => (await lookUps()).getTemplate(which, context));

/** An existing endpoint, by its id or unique name. `url` is the root of its job API; `imageName` is the image that new workers run. */
export const getServerlessEndpoint = (
  which: LookUp,
  options: LookUpOptions = {},
): Promise<EndpointRecord & { url: string; imageName: string | undefined }> =>
  calling(options, async (context) => (await lookUps()).getServerlessEndpoint(which, context));

/** A network volume that exists, by its id or unique name. */
export const getNetworkVolume = (which: LookUp, options: LookUpOptions = {}): Promise<NetworkVolumeRecord> =>
  calling(options, async (context) => (await lookUps()).getNetworkVolume(which, context));

/** A secret that exists, by its id or name; `reference` is what a template's env uses. Its value cannot be read. */
export const getSecret = (which: LookUp, options: LookUpOptions = {}): Promise<SecretRecord & { reference: string }> =>
  calling(options, async (context) => (await lookUps()).getSecret(which, context));

/**
 * The GPU types that the service has, cheapest first, for programs that choose by memory and price:
 * ```ts
 * const gpuTypes = await getGpuTypes();
 * const gpuTypeIds = gpuTypes.filter(({ pool, memoryInGb = 0 }) => pool && memoryInGb >= 40).map(({ id }) => id).slice(0, 3);
 * ```
 * `pool` is there where serverless endpoints can have the type.
 */
export const getGpuTypes = (which: { pool?: string } = {}, options: LookUpOptions = {}): Promise<GpuTypeRecord[]> =>
  calling(options, async (context) => (await (await lookUps()).getGpuTypes(which, context)).gpuTypes);

/** The data centres that the service has, or those of one region. */
export const getDataCenters = (
  which: { region?: string } = {},
  options: LookUpOptions = {},
): Promise<DataCenterRecord[]> =>
  calling(options, async (context) => (await (await lookUps()).getDataCenters(which, context)).dataCenters);

/** Jobs and workers of an endpoint as they are now (interface: Queue health). */
export const getEndpointHealth = (endpointId: string, options: LookUpOptions = {}): Promise<EndpointHealth> =>
  calling(options, async (context) => (await lookUps()).getEndpointHealth(endpointId, context));

/**
 * Runs one job and waits for it, as the resource JobInvoke does, from a script or a pipeline:
 * ```ts
 * const { output } = await invokeJob({ endpointId, input: { prompt: "ping" }, expect: { output: { text: "pong" } } });
 * ```
 * Rejects with what a person needs to know when the job does not end as expected.
 */
export const invokeJob = (args: InvokeJobArgs, options: InvokeJobOptions = {}): Promise<JobInvokeOutputs> =>
  calling(options, async (context) => (await import("../resources/job-invoke/verdict.js")).invokeJob(args, context));

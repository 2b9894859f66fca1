import { type DataCenterRecord, type EndpointHealth, type GpuTypeRecord, isApiError } from "serverless-compute-api";
import { containerOf, endpointHealth, secretReference } from "serverless-compute-api/shapes";
import { z } from "zod";
import { callOptions } from "../framework/calls";
import { explainLookup } from "../framework/messages";
import { containerRegistryAuth } from "../resources/container-registry-auth/definition";
import { networkVolume } from "../resources/network-volume/definition";
import { secret } from "../resources/secret/definition";
import { serverlessEndpoint } from "../resources/serverless-endpoint/definition";
import { urlOf, withVersion } from "../resources/serverless-endpoint/record";
import { template } from "../resources/template/definition";
import { revisionOf } from "../resources/template/revision";
import { toStartLists } from "../resources/template/start-arguments";
import { type FunctionDefinition, lookup } from "./lookup";

const remark =
  " Its variables and start arguments are plain text: mark them as secret before you use them. Start arguments are text or lists; the other form is empty.";

/** A container as outputs of a lookup. */
const shownContainer = (workers: Parameters<typeof containerOf>[0]) => {
  const { dockerArgs, containerRegistryAuthId, ...rest } = containerOf(workers);
  return {
    ...rest,
    ...toStartLists(dockerArgs, false),
    containerRegistryAuthId: containerRegistryAuthId ?? undefined,
  };
};

const getTemplate = lookup(
  "template",
  template,
  (record) => ({ ...record, ...shownContainer(record), revision: revisionOf(record) }),
  { remark },
);

/** Also returns the version, the container of new workers, and the URL for requests. */
const getServerlessEndpoint = lookup(
  "serverless endpoint",
  serverlessEndpoint,
  (record, context) =>
    explainLookup(`ServerlessEndpoint "${record.name}"`, context.settings, async () => {
      const { container: own, templateId } = record;
      const { management } = context.clients;
      const { version } = await withVersion(record, {}, context);
      const workers = own ?? (templateId ? await management.readTemplate(templateId, callOptions(context)) : undefined);
      const container = workers && { ...shownContainer(workers), revision: revisionOf(containerOf(workers)) };
      return { ...record, version, ...container, url: urlOf(record, context) };
    }),
  {
    remark,
    extraOutputs: {
      imageName: z
        .string()
        .optional()
        .describe("Image of new workers; absent if the endpoint's template has been deleted."),
      revision: z
        .string()
        .optional()
        .describe("Hash of the container of new workers; absent if the endpoint's template has been deleted."),
    },
  },
);

const getNetworkVolume = lookup("network volume", networkVolume, (record) => record);

const getContainerRegistryAuth = lookup(
  "container registry auth",
  containerRegistryAuth,
  ({ id, name }) => ({ id, name }),
  {
    remark: " Its user name and password cannot be read.",
  },
);

const getSecret = lookup("secret", secret, (record) => ({ ...record, reference: secretReference(record.name) }), {
  remark: " Its value cannot be read.",
});

const gpuType = () =>
  z
    .object({
      id: z.string().describe("Id of the type, for gpuTypeIds."),
      name: z.string().describe("Short name."),
      memoryInGb: z.number().describe("GB of memory.").optional(),
      manufacturer: z.string().describe('Manufacturer: "NVIDIA" or "AMD".').optional(),
      pool: z
        .string()
        .describe("Pool of serverless endpoints that contains the type; absent if the type is in no pool.")
        .optional(),
      price: z.number().describe("Price in US dollars per hour, if the service reports one.").optional(),
    })
    .describe("A GPU type of the service.");

/** Types without a price are last. */
const getGpuTypes: FunctionDefinition<{ pool?: string | undefined }, { gpuTypes: GpuTypeRecord[] }> = {
  description: "Lists the GPU types of the service, cheapest first.",
  args: { pool: "Pool of serverless endpoints; defaults to all types, including types without a pool." },
  required: [],
  outputs: () => z.object({ gpuTypes: z.array(gpuType()).describe("The GPU types.") }),
  async run({ pool }, context) {
    const { management } = context.clients;
    const gpuTypes = await explainLookup("GPU types", context.settings, () =>
      management.listGpuTypes(callOptions(context)),
    );
    const matches = gpuTypes.filter((type) => pool === undefined || type.pool === pool);
    const priceOf = ({ price: perHour = Number.POSITIVE_INFINITY }: GpuTypeRecord): number => perHour;
    return { gpuTypes: matches.toSorted((a, b) => (priceOf(a) === priceOf(b) ? 0 : priceOf(a) - priceOf(b))) };
  },
};

const dataCenter = () =>
  z
    .object({
      id: z.string().describe("Id of the data centre, for dataCenterIds."),
      name: z.string().describe("Name of the data centre."),
      region: z.string().describe("Region of the world.").optional(),
    })
    .describe("A data centre of the service.");

const getDataCenters: FunctionDefinition<{ region?: string | undefined }, { dataCenters: DataCenterRecord[] }> = {
  description: "Lists the data centres of the service.",
  args: { region: "Region of the world; defaults to all regions." },
  required: [],
  outputs: () => z.object({ dataCenters: z.array(dataCenter()).describe("The data centres.") }),
  async run({ region }, context) {
    const { management } = context.clients;
    const dataCenters = await explainLookup("data centres", context.settings, () =>
      management.listDataCenters(callOptions(context)),
    );
    return { dataCenters: dataCenters.filter((center) => region === undefined || center.region === region) };
  },
};

const getEndpointHealth: FunctionDefinition<{ endpointId: string }, EndpointHealth> = {
  description: "Returns the numbers of jobs and workers of an endpoint.",
  args: { endpointId: "Id of the endpoint." },
  required: ["endpointId"],
  outputs: () => endpointHealth.unwrap(),
  async run({ endpointId }, context) {
    const label = `endpoint "${endpointId}"`;
    return explainLookup(label, context.settings, () =>
      context.clients.jobs.health(endpointId, callOptions(context)).catch((error: unknown) => {
        if (!isApiError(error, "missing")) throw error;
        throw new Error(`${label} is unknown to the service (${error.message}): check the id`, { cause: error });
      }),
    );
  },
};

/**
 * All functions by name: the source of the schema, of the plugin's Invoke, and of the functions for TypeScript programs
 * (functions/program-calls.ts).
 */
export const functions = {
  getTemplate,
  getServerlessEndpoint,
  getNetworkVolume,
  getContainerRegistryAuth,
  getSecret,
  getGpuTypes,
  getDataCenters,
  getEndpointHealth,
} as const;

/** Optional filters of a list of objects, with their descriptions. */
export const listInputs = { namePrefix: "Prefix of the names of the listed objects." };

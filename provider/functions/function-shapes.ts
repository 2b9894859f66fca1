import { endpointHealth, traitsOf } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { ResourceShapes } from "../lifecycle/define-lifecycle";
import { kinds } from "../resources";

/** Function of the package; all arguments are strings. */
export interface FunctionShape {
  description: string;
  /** Descriptions of the arguments, by name. */
  args: Readonly<Record<string, string>>;
  /** Names of the required arguments. */
  required: readonly string[];
  /** Outputs; created on demand, because most processes call no function. */
  outputs(): z.ZodObject;
}

/** Result of a lookup: id, inputs and outputs, without secrets or properties that the service does not store. */
function resultOf({ inputs, outputs }: ResourceShapes): z.ZodObject {
  const visible = Object.entries(inputs.shape).filter(([key, shape]) => {
    const { secret, onlyAtCreation, stateOnly } = traitsOf(shape);
    return key !== "name" && !secret && !onlyAtCreation && !stateOnly;
  });
  return z.object({
    id: z.string().describe("Id of the object."),
    name: z.string().describe("Name of the object."),
    ...Object.fromEntries(visible),
    ...outputs.shape,
  });
}

const lookupShape = (
  noun: string,
  resource: ResourceShapes,
  remark = "",
  extraOutputs: z.ZodRawShape = {},
): FunctionShape => ({
  description: `Finds an existing ${noun} by its id or its unique name.${remark}`,
  args: {
    id: `Id of the ${noun}; required if no name is set.`,
    name: `Name of the ${noun}, which must be unique; required if no id is set.`,
  },
  required: [],
  outputs: () => resultOf(resource).extend(extraOutputs),
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
const dataCenter = () =>
  z
    .object({
      id: z.string().describe("Id of the data centre, for dataCenterIds."),
      name: z.string().describe("Name of the data centre."),
      region: z.string().describe("Region of the world.").optional(),
    })
    .describe("A data centre of the service.");

/** All functions by name. */
export const functionShapes = {
  getTemplate: lookupShape("template", kinds.Template),
  getServerlessEndpoint: lookupShape("serverless endpoint", kinds.ServerlessEndpoint, "", {
    imageName: z
      .string()
      .optional()
      .describe("Image of new workers; absent if the endpoint's template has been deleted."),
  }),
  getNetworkVolume: lookupShape("network volume", kinds.NetworkVolume),
  getSecret: lookupShape("secret", kinds.Secret, " Its value cannot be read."),
  getGpuTypes: {
    description: "Lists the GPU types of the service, cheapest first.",
    args: { pool: "Pool of serverless endpoints; defaults to all types, including types without a pool." },
    required: [],
    outputs: () => z.object({ gpuTypes: z.array(gpuType()).describe("The GPU types.") }),
  },
  getDataCenters: {
    description: "Lists the data centres of the service.",
    args: { region: "Region of the world; defaults to all regions." },
    required: [],
    outputs: () => z.object({ dataCenters: z.array(dataCenter()).describe("The data centres.") }),
  },
  getEndpointHealth: {
    description: "Returns the numbers of jobs and workers of an endpoint.",
    args: { endpointId: "Id of the endpoint." },
    required: ["endpointId"],
    outputs: () => endpointHealth.unwrap(),
  },
} as const satisfies Record<string, FunctionShape>;

/** Name of a function. */
export type FunctionName = keyof typeof functionShapes;

/** Optional filters of a list of objects, with their descriptions. */
export const listInputs = { namePrefix: "Prefix of the names of the listed objects." };

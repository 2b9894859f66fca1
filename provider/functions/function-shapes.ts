import { endpointHealth, traitsOf } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { ResourceShapes } from "../lifecycle/define";
import { kinds } from "../resources";

/** A function of the package, with what programs hand in, all of it text. */
export interface FunctionShape {
  description: string;
  /** Argument → what it is. */
  args: Readonly<Record<string, string>>;
  required: readonly string[];
  /** Outputs; created on demand, because most processes call no function. */
  outputs(): z.ZodObject;
}

/** Result of a lookup: id, inputs and outputs, without secrets and properties that the service does not store. */
function found({ inputs, outputs }: ResourceShapes): z.ZodObject {
  const shown = Object.entries(inputs.shape).filter(([key, shape]) => {
    const { secret, onlyAtCreation, stateOnly } = traitsOf(shape);
    return key !== "name" && !secret && !onlyAtCreation && !stateOnly;
  });
  return z.object({
    id: z.string().describe("Id of the object."),
    name: z.string().describe("Name of the object."),
    ...Object.fromEntries(shown),
    ...outputs.shape,
  });
}

const lookUp = (object: string, resource: ResourceShapes, remark = "", also: z.ZodRawShape = {}): FunctionShape => ({
  description: `Finds ${object} that exists already, by its id or its unique name.${remark}`,
  args: {
    id: `Id of ${object}; give this or the name.`,
    name: `Name of ${object}; it must be the only one of this name. Give this or the id.`,
  },
  required: [],
  outputs: () => found(resource).extend(also),
});

const gpuType = () =>
  z
    .object({
      id: z.string().describe("Id of the type, as gpuTypeIds takes it."),
      name: z.string().describe("Short name."),
      memoryInGb: z.number().describe("GB of memory.").optional(),
      manufacturer: z.string().describe('Manufacturer: "NVIDIA" or "AMD".').optional(),
      pool: z.string().describe("Pool of serverless endpoints that has it; absent where none does.").optional(),
      price: z.number().describe("Price in US dollars per hour, if the service reports one.").optional(),
    })
    .describe("A GPU type of the service.");
const dataCenter = () =>
  z
    .object({
      id: z.string().describe("Id of the data centre, as dataCenterIds takes it."),
      name: z.string().describe("Name of the data centre."),
      region: z.string().describe("Part of the world.").optional(),
    })
    .describe("A data centre of the service.");

/** Every function there is, by name. */
export const functionShapes = {
  getTemplate: lookUp("a template", kinds.Template),
  getServerlessEndpoint: lookUp("a serverless endpoint", kinds.ServerlessEndpoint, "", {
    imageName: z
      .string()
      .optional()
      .describe("Image that new workers run; absent if the endpoint's template is deleted."),
  }),
  getNetworkVolume: lookUp("a network volume", kinds.NetworkVolume),
  getSecret: lookUp("a secret", kinds.Secret, " Its value cannot be read."),
  getGpuTypes: {
    description: "Lists the GPU types of the service, cheapest first.",
    args: { pool: "Pool of serverless endpoints; types of all pools, and of none, when absent." },
    required: [],
    outputs: () => z.object({ gpuTypes: z.array(gpuType()).describe("The GPU types.") }),
  },
  getDataCenters: {
    description: "Lists the data centres of the service.",
    args: { region: "Part of the world; all when absent." },
    required: [],
    outputs: () => z.object({ dataCenters: z.array(dataCenter()).describe("The data centres.") }),
  },
  getEndpointHealth: {
    description: "Counts the jobs and the workers of an endpoint as they are now.",
    args: { endpointId: "Id of the endpoint." },
    required: ["endpointId"],
    outputs: () => endpointHealth.unwrap(),
  },
} as const satisfies Record<string, FunctionShape>;

/** Name of a function. */
export type FunctionName = keyof typeof functionShapes;

/** Filters of a list of objects and their descriptions; each is optional. */
export const listInputs = { namePrefix: "Text that the names of the listed objects begin with." };

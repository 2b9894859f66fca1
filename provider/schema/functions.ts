import { endpointHealth } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { ResourceShapes } from "../lifecycle/define";
import { traitsOf } from "../lifecycle/properties/traits";
import { kinds } from "../resources";

/** A function of the package: what programs hand in, all of it text, and what they get. */
export interface FunctionShape {
  description: string;
  /** Argument → what it is. */
  args: Readonly<Record<string, string>>;
  required: readonly string[];
  outputs: z.ZodObject;
}

/** What a look-up returns of an object: id, inputs and outputs, without what is secret or only matters at creation. */
function found({ inputs, outputs }: ResourceShapes): z.ZodObject {
  const shown = Object.entries(inputs.shape).filter(([key, shape]) => {
    const { secret, onlyAtCreation } = traitsOf(shape);
    return key !== "name" && !secret && !onlyAtCreation;
  });
  return z.object({
    id: z.string().describe("Id of the object."),
    name: z.string().describe("Name of the object."),
    ...Object.fromEntries(shown),
    ...outputs.shape,
  });
}

const lookUp = (object: string, resource: ResourceShapes, remark = ""): FunctionShape => ({
  description: `Finds ${object} that exists already, by its id or its unique name.${remark}`,
  args: {
    id: `Id of ${object}; give this or the name.`,
    name: `Name of ${object}; it must be the only one of this name. Give this or the id.`,
  },
  required: [],
  outputs: found(resource),
});

/** Every function there is, by name. */
export const functionShapes = {
  getTemplate: lookUp("a template", kinds.Template),
  getServerlessEndpoint: lookUp("a serverless endpoint", kinds.ServerlessEndpoint),
  getNetworkVolume: lookUp("a network volume", kinds.NetworkVolume),
  getSecret: lookUp("a secret", kinds.Secret, " Its value cannot be read."),
  getEndpointHealth: {
    description: "Counts the jobs and the workers of an endpoint as they are now.",
    args: { endpointId: "Id of the endpoint." },
    required: ["endpointId"],
    outputs: endpointHealth,
  },
} as const satisfies Record<string, FunctionShape>;

/** Name of a function. */
export type FunctionName = keyof typeof functionShapes;

import { z } from "zod";
import { jobInvokeInputs, jobInvokeOutputs } from "./job-invoke";
import { networkVolumeInputs } from "./network-volume";
import { registryAuthInputs } from "./registry-auth";
import { secretInputs, secretOutputs } from "./secret";
import { serverlessEndpointInputs, serverlessEndpointOutputs } from "./serverless-endpoint";
import { templateInputs, templateOutputs } from "./template";

/** A kind of resource: what people write of it, and what it tells beside that once it is there. */
export interface Noun {
  description: string;
  inputs: z.ZodObject;
  outputs: z.ZodObject;
}

const nothing = z.object({});

/** Every kind of resource, in the order of a first program: what schema, reference and argument types are made from. */
export const nouns = {
  Secret: {
    description: "A sensitive value that templates hand to workers by reference; it is never read back.",
    inputs: secretInputs,
    outputs: secretOutputs,
  },
  NetworkVolume: {
    description: "Storage that outlives workers. It can grow; a move to another data centre is a new, empty volume.",
    inputs: networkVolumeInputs,
    outputs: nothing,
  },
  ContainerRegistryAuth: {
    description: "Credentials for private images; a template names them by id. They are never read back.",
    inputs: registryAuthInputs,
    outputs: nothing,
  },
  Template: {
    description: "What workers run: image, arguments, environment and disks.",
    inputs: templateInputs,
    outputs: templateOutputs,
  },
  ServerlessEndpoint: {
    description: "Queues jobs and runs them on workers made from a template, as many as the scaling rules ask for.",
    inputs: serverlessEndpointInputs,
    outputs: serverlessEndpointOutputs,
  },
  JobInvoke: {
    description:
      "Runs one job when it is created or its inputs or triggers change; a job that goes wrong fails the deployment.",
    inputs: jobInvokeInputs,
    outputs: jobInvokeOutputs,
  },
} as const satisfies Record<string, Noun>;

import { containerRegistryAuth } from "./container-registry-auth";
import { jobInvoke } from "./job-invoke";
import type { Lifecycle } from "./lifecycle";
import { networkVolume } from "./network-volume";
import { secret } from "./secret";
import { serverlessEndpoint } from "./serverless-endpoint";
import { template } from "./template";

/** Every kind of resource there is: the one table that both doors are made from. */
export const kinds = {
  Template: template,
  ServerlessEndpoint: serverlessEndpoint,
  NetworkVolume: networkVolume,
  Secret: secret,
  ContainerRegistryAuth: containerRegistryAuth,
  JobInvoke: jobInvoke,
} as const satisfies Record<string, Lifecycle>;

/** Name of a resource type. */
export type Kind = keyof typeof kinds;

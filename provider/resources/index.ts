import type { ResourceLifecycle } from "../lifecycle/define";
import { containerRegistryAuth } from "./container-registry-auth/lifecycle";
import { jobInvoke } from "./job-invoke/lifecycle";
import { networkVolume } from "./network-volume/lifecycle";
import { secret } from "./secret/lifecycle";
import { serverlessEndpoint } from "./serverless-endpoint/lifecycle";
import { template } from "./template/lifecycle";

/** Every kind of resource, in the order of a first program: what both ways, the schema and the argument types are made from. */
export const kinds = {
  Secret: secret,
  NetworkVolume: networkVolume,
  ContainerRegistryAuth: containerRegistryAuth,
  Template: template,
  ServerlessEndpoint: serverlessEndpoint,
  JobInvoke: jobInvoke,
} as const satisfies Record<string, ResourceLifecycle>;

/** Name of a resource type. */
export type Kind = keyof typeof kinds;

const { JobInvoke: _run, ...objects } = kinds;
/** The kinds whose resources are objects of the account; a JobInvoke is a run. */
export const objectKinds = objects;

/** Name of such a kind. */
export type ObjectKind = keyof typeof objectKinds;

/** Returns true if a name is that of a kind of object. */
export const isObjectKind = (kind: string): kind is ObjectKind => Object.hasOwn(objectKinds, kind);

/** Names of the kinds of objects, in the order of `kinds`: each refers to earlier ones only. */
export const objectKindNames: readonly ObjectKind[] = Object.keys(objectKinds).filter(isObjectKind);

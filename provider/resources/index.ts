import type { Resource } from "../framework/operations";
import { containerRegistryAuth } from "./container-registry-auth/definition";
import { jobInvoke } from "./job-invoke/definition";
import { networkVolume } from "./network-volume/definition";
import { secret } from "./secret/definition";
import { serverlessEndpoint } from "./serverless-endpoint/definition";
import { template } from "./template/definition";

/** Resource kinds in the order of a typical program; the source of both provider variants, the schema and the argument types. */
export const kinds = {
  Secret: secret,
  NetworkVolume: networkVolume,
  ContainerRegistryAuth: containerRegistryAuth,
  Template: template,
  ServerlessEndpoint: serverlessEndpoint,
  JobInvoke: jobInvoke,
} as const satisfies Record<string, Resource>;

/** Name of a resource type. */
export type Kind = keyof typeof kinds;

const { JobInvoke: _run, ...objects } = kinds;
/** Kinds whose resources are objects in the account: all except JobInvoke. */
export const objectKinds = objects;

/** Name of a kind in `objectKinds`. */
export type ObjectKind = keyof typeof objectKinds;

/** Returns true if a kind is in `objectKinds`. */
export const isObjectKind = (kind: string): kind is ObjectKind => Object.hasOwn(objectKinds, kind);

/** Names of the object kinds in the order of `kinds`; each kind refers only to earlier kinds. */
export const objectKindNames: readonly ObjectKind[] = Object.keys(objectKinds).filter(isObjectKind);

import { unverifiedKey } from "../../resources/serverless-endpoint/unverified";
import type { ExportedState, StateResource } from "../state";

/** A pending create with an object that is added to the state. */
export interface AdoptedObject {
  urn: string;
  name: string | undefined;
  id: string;
}

/**
 * The state with the objects of pending creates in it, and without pending operations. The outputs of an adopted object are its
 * inputs until a refresh reads it. Throws if the state no longer has one of the pending creates.
 */
export function adopt(state: ExportedState, adopted: readonly AdoptedObject[]): ExportedState {
  const { pending_operations: operations, ...deployment } = state.deployment;
  let resources = deployment.resources ?? [];
  for (const { urn, name, id } of adopted) {
    const operation = operations?.find(
      ({ type, resource }) => type === "creating" && resource.urn === urn && resource.inputs?.["name"] === name,
    );
    if (!operation) throw new Error(`${urn}: the state no longer contains this pending create; run the command again`);
    const { inputs = {} } = operation.resource;
    // An endpoint with `verify` counts as unverified: its create was interrupted, perhaps before the verification.
    const unverified = "verify" in inputs && { [unverifiedKey]: {} };
    const adoptedResource: StateResource = { ...operation.resource, id, outputs: { ...inputs, ...unverified } };
    const replacedIndex = resources.findIndex((candidate) => candidate.urn === urn && candidate.pendingReplacement);
    // Other resources already refer to a replaced resource, so they must follow it in the state.
    resources = replacedIndex < 0 ? [...resources, adoptedResource] : resources.with(replacedIndex, adoptedResource);
  }
  return { ...state, deployment: { ...deployment, resources } };
}

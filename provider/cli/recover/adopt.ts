import { unverifiedKey } from "../../resources/serverless-endpoint/unverified";
import type { ExportedState, StateResource } from "../state";

/** A pending create whose object gets into the state. */
export interface Adopted {
  urn: string;
  name: string | undefined;
  id: string;
}

/**
 * The state with the objects of pending creates in it, and without pending operations. The outputs of an adopted object are its
 * inputs until a refresh reads it. Throws if the state no longer has one of the pending creates.
 */
export function adopt(state: ExportedState, adopted: readonly Adopted[]): ExportedState {
  const { pending_operations: operations, ...deployment } = state.deployment;
  let resources = deployment.resources ?? [];
  for (const { urn, name, id } of adopted) {
    const operation = operations?.find(
      ({ type, resource }) => type === "creating" && resource.urn === urn && resource.inputs?.["name"] === name,
    );
    if (!operation) throw new Error(`${urn}: the state has no such pending create any more; run the command again`);
    const { inputs = {} } = operation.resource;
    // An endpoint with `verify` counts as unverified: its create was interrupted, perhaps before the verification.
    const unverified = "verify" in inputs && { [unverifiedKey]: {} };
    const made: StateResource = { ...operation.resource, id, outputs: { ...inputs, ...unverified } };
    const replaced = resources.findIndex((one) => one.urn === urn && one.pendingReplacement);
    // The others already refer to a replaced resource, so they stand after it.
    resources = replaced < 0 ? [...resources, made] : resources.with(replaced, made);
  }
  return { ...state, deployment: { ...deployment, resources } };
}

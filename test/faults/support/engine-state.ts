import type { Dialect } from "serverless-compute-api";
import { expect } from "vitest";
import type { EngineProperties } from "../../../provider/engine/engine-properties";
import { type Properties, toProperties } from "../../../provider/engine/values";
import { invalidateLists } from "../../../provider/framework/lists";
import { type Kind, kinds } from "../../../provider/resources";
import { connectedProcess } from "../../support/configured-process";
import { type EngineState, providerVariants } from "../../support/provider-variants";
import { clientsReturning } from "./record-server";
import type { ReportedRow } from "./reported-values";

/** Result of a preview: failures of the check, or the checked inputs and what changes. */
export interface Preview {
  failures: string[];
  inputs: EngineProperties;
  changes: boolean;
  replaces: readonly string[];
}

export const variantNames = ["dynamic provider", "plugin"] as const;
type VariantName = (typeof variantNames)[number];

/** Each dialect and each variant once, because both variants share their rules; every combination in full runs. */
export const combinations: readonly (readonly [Dialect, VariantName])[] = [
  ["v1", "dynamic provider"] as const,
  ["v2", "plugin"] as const,
  ["v1", "plugin"] as const,
  ["v2", "dynamic provider"] as const,
].slice(0, process.env["FULL"] ? 4 : 2);

/** A deployed resource with its state in the engine. */
export interface DeployedResource {
  /** Previews a program with the option `ignoreChanges`. */
  preview(program: Properties, ignoreChanges?: readonly string[]): Promise<Preview>;
  /** Keeps the inputs of a preview without changes, as `up` does. */
  keep(preview: Preview): void;
  /** Changes fields of the service's record and refreshes the state. */
  refresh(fields: object): Promise<void>;
}

/** Deploys the object of a row with one variant; the service returns the row's record. `outputs` are those that are no inputs. */
export async function deployResource(
  variantName: VariantName,
  dialect: Dialect,
  {
    kind,
    program,
    record,
    outputs: created = { version: 1 },
  }: Pick<ReportedRow, "program" | "record"> & { kind: Kind; outputs?: Properties },
): Promise<DeployedResource> {
  const served: Record<string, unknown> = { ...record };
  const clients = await clientsReturning(dialect, kind, served);
  const calls = providerVariants[variantName](kinds[kind], connectedProcess(clients, { dialect }));
  const { inputs, failures } = await calls.check({}, program);
  expect(failures).toEqual([]);
  // The record of a created object has its name, which may end in a random suffix.
  Object.assign(served, { name: inputs["name"] });
  const { outputs } = await calls.read(record.id, { inputs, outputs: { ...inputs, ...created } });
  let state: EngineState = { inputs, outputs };
  return {
    async preview(news, ignoreChanges = []) {
      const checked = await calls.check(state.inputs, applyIgnoreChanges(news, state.inputs, ignoreChanges));
      return { ...checked, ...(await calls.diff(record.id, state.outputs, checked.inputs)) };
    },
    keep(preview) {
      state = { ...state, inputs: preview.inputs };
    },
    async refresh(fields) {
      Object.assign(served, fields);
      invalidateLists({ clients });
      state = await calls.read(record.id, state);
    },
  };
}

/** Sets inputs back to those of the state as the engine does for `ignoreChanges` with names of inputs, or "*". */
function applyIgnoreChanges(
  news: Properties,
  olds: EngineProperties,
  ignoreChanges: readonly string[],
): EngineProperties {
  const kept = ignoreChanges.includes("*") ? [...new Set([...Object.keys(news), ...Object.keys(olds)])] : ignoreChanges;
  const copies = Object.fromEntries(kept.map((key) => [key, olds[key]]));
  return toProperties({ ...news, ...copies });
}

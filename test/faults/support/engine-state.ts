import type { Clients, Dialect } from "serverless-compute-api";
import { expect } from "vitest";
import { createProvider } from "../../../provider/dynamic/provider";
import { diffChanges } from "../../../provider/engine/messages";
import { type Properties, toProperties } from "../../../provider/engine/values";
import { invalidateLists } from "../../../provider/framework/lists";
import type { ProviderProcess } from "../../../provider/framework/process";
import { resourceCalls } from "../../../provider/plugin/resource-calls";
import { type Kind, kinds } from "../../../provider/resources";
import { configNames } from "../../../provider/settings/setting-names";
import { configuredProcess } from "../../support/configured-process";
import { engineProperties, roundTrip } from "../../support/property-sets";
import { clientsReturning } from "./record-server";
import type { ReportedRow } from "./reported-values";

/** A resource in the engine's state. */
export interface EngineState {
  inputs: Properties;
  outputs: Properties;
}

/** Result of a preview: failures of the check, or the checked inputs and what changes. */
export interface Preview {
  failures: string[];
  inputs: Properties;
  changes: boolean;
  replaces: readonly string[];
}

/** A provider variant, called with the messages of the engine. */
interface Variant {
  check(olds: Properties, news: Properties): Promise<Pick<Preview, "inputs" | "failures">>;
  diff(id: string, olds: EngineState, news: Properties): Promise<Pick<Preview, "changes" | "replaces">>;
  read(id: string, olds: EngineState): Promise<EngineState>;
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

const urnOf = (kind: string): string => `urn:pulumi:dev::shop::serverless-compute:index:${kind}::chat`;

/** Creates a variant with these clients. */
function createVariant(name: VariantName, kind: Kind, dialect: Dialect, clients: Clients): Variant {
  const host = {
    ...configuredProcess({ dialect }),
    connect: () => ({ clients, settings: { templateReleaseLimit: 1, names: configNames } }),
  };
  return name === "plugin" ? pluginVariant(host, kind) : dynamicVariant(host, kind);
}

function pluginVariant(host: ProviderProcess, kind: Kind): Variant {
  const calls = resourceCalls(host, kinds);
  const urn = urnOf(kind);
  return {
    async check(olds, news) {
      const request = { urn, olds: engineProperties(olds), news: engineProperties(news) };
      const { inputs, failures = [] } = await calls.check({ ...request, randomSeed: undefined, autonaming: undefined });
      return {
        inputs: roundTrip(inputs).properties,
        failures: failures.map(({ property, reason }) => `${property}: ${reason}`),
      };
    },
    async diff(id, { outputs }, news) {
      const request = { id, urn, olds: engineProperties(outputs), news: engineProperties(news) };
      const { changes, replaces = [] } = await calls.diff(request);
      return { changes: changes === diffChanges.some, replaces };
    },
    async read(id, { inputs, outputs }) {
      const request = { id, urn, properties: engineProperties(outputs), inputs: engineProperties(inputs), timeout: 0 };
      const result = await calls.read(request);
      return { inputs: roundTrip(result.inputs).properties, outputs: roundTrip(result.properties).properties };
    },
  };
}

function dynamicVariant(host: ProviderProcess, kind: Kind): Variant {
  const { check, diff, read } = createProvider(kinds[kind], host);
  if (!check || !diff || !read) throw new Error("a verb is missing");
  const internal = { __provider: "text", __urn: urnOf(kind) };
  /** The engine sends plain values of secrets. */
  const received = (values: object | undefined): Properties => engineProperties(values ?? {}).properties;
  return {
    async check(olds, news) {
      const { inputs, failures } = await check(olds, { ...internal, ...news });
      return {
        inputs: received(inputs),
        failures: (failures ?? []).map(({ property, reason }) => `${property}: ${reason}`),
      };
    },
    async diff(id, { outputs }, news) {
      const { changes = false, replaces = [] } = await diff(id, outputs, news);
      return { changes, replaces };
    },
    async read(id, { outputs }) {
      const { props, inputs } = await read(id, outputs);
      return { inputs: received(inputs), outputs: received(props) };
    },
  };
}

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
  const variant = createVariant(variantName, kind, dialect, clients);
  const { inputs, failures } = await variant.check({}, program);
  expect(failures).toEqual([]);
  // The record of a created object has its name, which may end in a random suffix.
  Object.assign(served, { name: inputs["name"] });
  const { outputs } = await variant.read(record.id, { inputs, outputs: { ...inputs, ...created } });
  let state: EngineState = { inputs, outputs };
  return {
    async preview(news, ignoreChanges = []) {
      const checked = await variant.check(state.inputs, applyIgnoreChanges(news, state.inputs, ignoreChanges));
      return { ...checked, ...(await variant.diff(record.id, state, checked.inputs)) };
    },
    keep(preview) {
      state = { ...state, inputs: preview.inputs };
    },
    async refresh(fields) {
      Object.assign(served, fields);
      invalidateLists({ clients });
      state = await variant.read(record.id, state);
    },
  };
}

/** Sets inputs back to those of the state as the engine does for `ignoreChanges` with names of inputs, or "*". */
function applyIgnoreChanges(news: Properties, olds: Properties, ignoreChanges: readonly string[]): Properties {
  const kept = ignoreChanges.includes("*") ? [...new Set([...Object.keys(news), ...Object.keys(olds)])] : ignoreChanges;
  const copies = Object.fromEntries(kept.map((key) => [key, olds[key]]));
  return toProperties({ ...news, ...copies });
}

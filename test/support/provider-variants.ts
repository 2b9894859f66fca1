import { createProvider } from "../../provider/dynamic/provider";
import { type EngineProperties, isSecret, markSecrets, toEngine } from "../../provider/engine/engine-properties";
import { diffChanges } from "../../provider/engine/messages";
import { toPropertyMap } from "../../provider/engine/protobuf-struct";
import { isRecord, type PropertyMap } from "../../provider/engine/values";
import type { ResourceOperations } from "../../provider/framework/contract";
import { ResourceInitError } from "../../provider/framework/errors";
import type { ProviderProcess } from "../../provider/framework/process";
import { resourceCalls } from "../../provider/plugin/resource-calls";
import { roundTrip } from "./property-sets";

/** A resource in the engine's state. */
export interface EngineState {
  inputs: EngineProperties;
  outputs: EngineProperties;
}

/** The calls of the engine for one resource. Values and results have marks at secrets. */
export interface VariantCalls {
  /** Returns the inputs, and failures as `property: reason`. */
  check(olds: EngineProperties, news: EngineProperties): Promise<{ inputs: EngineProperties; failures: string[] }>;
  diff(
    id: string,
    outputs: EngineProperties,
    news: EngineProperties,
  ): Promise<{ changes: boolean; replaces: readonly string[] }>;
  /** Returns the outputs, also of an unfinished object. */
  create(news: EngineProperties): Promise<EngineProperties>;
  /** Returns the outputs, also of an unfinished object. */
  update(id: string, outputs: EngineProperties, news: EngineProperties): Promise<EngineProperties>;
  read(id: string, state: EngineState): Promise<EngineState>;
  /** Returns the outputs of the resource option `id`. */
  lookUp(id: string): Promise<EngineProperties>;
  delete(id: string, outputs: EngineProperties): Promise<void>;
}

/** Creates the calls for the resource of a kind with this name. */
type Variant = (operations: ResourceOperations, providerProcess: ProviderProcess, name?: string) => VariantCalls;

const urnOf = (kind: string, name: string): string => `urn:pulumi:dev::shop::serverless-compute:index:${kind}::${name}`;

const textsOf = (failures: readonly { property: string; reason: string }[] = []): string[] =>
  failures.map(({ property, reason }) => `${property}: ${reason}`);

/** The plugin's calls; with `preview`, creates and updates are previews. */
export const pluginVariant =
  (preview: boolean): Variant =>
  (operations, providerProcess, name = "chat") => {
    const urn = urnOf(operations.kind, name);
    const calls = resourceCalls(providerProcess, { [operations.kind]: operations });
    const marked = (received: PropertyMap | undefined): EngineProperties => {
      const { properties, secretPaths } = roundTrip(received);
      return markSecrets(toEngine(properties), secretPaths);
    };
    const outputsOf = async (call: Promise<{ properties?: PropertyMap }>): Promise<EngineProperties> => {
      try {
        return marked((await call).properties);
      } catch (error) {
        if (!(error instanceof ResourceInitError)) throw error;
        return marked({ properties: error.outputs, secretPaths: error.secretPaths });
      }
    };
    const read: VariantCalls["read"] = async (id, { inputs, outputs }) => {
      const maps = { properties: toPropertyMap(outputs), inputs: toPropertyMap(inputs) };
      const result = await calls.read({ id, urn, timeout: 0, ...maps });
      return { inputs: marked(result.inputs), outputs: marked(result.properties) };
    };
    return {
      async check(olds, news) {
        const maps = { olds: toPropertyMap(olds), news: toPropertyMap(news) };
        const result = await calls.check({ urn, randomSeed: undefined, autonaming: undefined, ...maps });
        return { inputs: marked(result.inputs), failures: textsOf(result.failures) };
      },
      async diff(id, outputs, news) {
        const result = await calls.diff({ id, urn, olds: toPropertyMap(outputs), news: toPropertyMap(news) });
        return { changes: result.changes === diffChanges.some, replaces: result.replaces ?? [] };
      },
      create: (news) => outputsOf(calls.create({ urn, timeout: 0, preview, properties: toPropertyMap(news) })),
      update(id, outputs, news) {
        const maps = { olds: toPropertyMap(outputs), news: toPropertyMap(news) };
        return outputsOf(calls.update({ id, urn, timeout: 0, preview, ...maps }));
      },
      read,
      lookUp: async (id) => (await read(id, { inputs: {}, outputs: {} })).outputs,
      delete: async (id, outputs) =>
        void (await calls.delete({ id, urn, timeout: 0, properties: toPropertyMap(outputs) })),
    };
  };

/** The calls of dynamic resources, whose provider receives plain values with the internal inputs. */
export const dynamicVariant: Variant = (operations, providerProcess, name = "chat") => {
  const { check, create, delete: remove, diff, read, update } = createProvider(operations, providerProcess);
  if (!check || !remove || !diff || !read || !update) throw new Error("an operation is missing");
  const plain = (sent: EngineProperties): EngineProperties => ({
    ...toEngine(toPropertyMap(sent).properties),
    __provider: "text",
    __urn: urnOf(operations.kind, name),
  });
  const outputsOf = async (call: Promise<{ outs?: EngineProperties }>): Promise<EngineProperties> => {
    try {
      return (await call).outs ?? {};
    } catch (error) {
      if (isRecord(error) && isRecord(error["properties"])) return error["properties"];
      throw error;
    }
  };
  return {
    async check(olds, news) {
      const { inputs = {}, failures } = await check(plain(olds), plain(news));
      return { inputs: withMarksOf(news, inputs), failures: textsOf(failures) };
    },
    async diff(id, outputs, news) {
      const { changes = false, replaces = [] } = await diff(id, plain(outputs), plain(news));
      return { changes, replaces };
    },
    create: async (news) => withMarksOf(news, await outputsOf(create(plain(news)))),
    update: async (id, outputs, news) => withMarksOf(news, await outputsOf(update(id, plain(outputs), plain(news)))),
    async read(id, state) {
      const { inputs = {}, props = {} } = await read(id, plain(state.outputs));
      return { inputs: withMarksOf(state.inputs, inputs), outputs: withMarksOf(state.outputs, props) };
    },
    lookUp: async (id) => (await read(id, { ...plain({}), __existing: true })).props ?? {},
    delete: (id, outputs) => remove(id, plain(outputs)),
  };
};

const containsSecret = (value: unknown): boolean =>
  isSecret(value) || (typeof value === "object" && value !== null && Object.values(value).some(containsSecret));

/** Copies marks to the results of a provider that receives plain values, like the engine. */
function withMarksOf(sent: EngineProperties, results: EngineProperties): EngineProperties {
  const entries = Object.entries(results).map(([key, value]) => {
    const source = sent[key];
    if (isRecord(value) && isRecord(source) && !isSecret(value) && !isSecret(source))
      return [key, withMarksOf(source, value)];
    return [key, isSecret(value) || !containsSecret(source) ? value : markSecrets({ value }, [["value"]])["value"]];
  });
  return Object.fromEntries(entries);
}

/** Both variants by name. */
export const providerVariants = { plugin: pluginVariant(false), "dynamic provider": dynamicVariant };

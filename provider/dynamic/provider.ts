import type { dynamic } from "@pulumi/pulumi";
import { handleEngineSignals } from "../engine/cancellation";
import { type EngineProperties, markSecrets, toEngine } from "../engine/engine-properties";
import { messageOf } from "../engine/error-text";
import { type PropertyMap, valueAt } from "../engine/values";
import type { ResourceOperations } from "../framework/contract";
import { ResourceInitError } from "../framework/errors";
import { createPipeline } from "../framework/pipeline";
import { createProviderProcess, type ProviderProcess } from "../framework/process";
import { autoNaming } from "../framework/urn";
import { sdkError } from "./failures";
import { type InternalInputs, splitProperties, type TimedOperation, timedOperations } from "./internal-inputs";

/** Properties for the SDK: secrets are marked, and internal inputs are included, because refresh and delete receive outputs only. */
const wireOf = ({ properties, secretPaths }: PropertyMap, { wire }: InternalInputs): EngineProperties => ({
  ...markSecrets(toEngine(properties), secretPaths),
  ...wire,
});

/** State for the SDK: records which values are secret, because later operations receive them as plain text. */
function stateOf(outputs: PropertyMap, internal: InternalInputs): EngineProperties {
  const paths = outputs.secretPaths.filter((path) => valueAt(outputs.properties, path) !== undefined);
  const state = wireOf(outputs, internal);
  if (paths.length > 0) state["__secrets"] = [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()];
  return state;
}

/**
 * Adapts the operations of a kind to the dynamic SDK: removes and restores internal inputs, and converts failures for Pulumi's output.
 */
export function createProvider(
  operations: ResourceOperations,
  providerProcess: ProviderProcess,
): dynamic.ResourceProvider<EngineProperties, EngineProperties> {
  const pipeline = createPipeline(operations, providerProcess);

  /** Calls an operation; errors get the name of the resource. */
  const callOperation = async <Result>(
    operation: TimedOperation | "diff",
    { internal }: { internal: InternalInputs },
    action: (call: { urn: string; timeout: number | undefined }) => Promise<Result>,
  ): Promise<Result> => {
    try {
      const timeout = operation === "diff" ? undefined : internal.timeout(operation);
      return await action({ urn: internal.urn, timeout });
    } catch (thrown) {
      const subject = `${operations.kind} ${JSON.stringify(internal.resourceName)}, ${operation}`;
      if (!(thrown instanceof ResourceInitError)) throw sdkError(subject, messageOf(thrown));
      const { id, outputs, secretPaths } = thrown;
      const properties = stateOf({ properties: outputs, secretPaths }, internal);
      throw sdkError(subject, messageOf(thrown), { id, properties });
    }
  };

  return {
    configure: async ({ config }) => providerProcess.setConfiguration((key) => config.get(key)),

    check: async (olds: EngineProperties, news: EngineProperties) => {
      const { internal, ...newProperties } = splitProperties(news);
      try {
        for (const operation of timedOperations) internal.timeout(operation);
        const { inputs, failures } = await pipeline.check(
          { urn: internal.urn },
          splitProperties(olds),
          newProperties,
          autoNaming(internal.urn),
        );
        return { inputs: wireOf(inputs, internal), failures };
      } catch (thrown) {
        return { inputs: news, failures: [{ property: "", reason: messageOf(thrown) }] };
      }
    },

    diff: (id, olds: EngineProperties, news: EngineProperties) => {
      const newProperties = splitProperties(news);
      return callOperation("diff", newProperties, async (call) => {
        const oldProperties = splitProperties(olds);
        const { changes, hasPlaintextSecrets, ...rest } = await pipeline.diff(
          call,
          id,
          oldProperties,
          newProperties,
          newProperties.internal.requiresReplacement,
        );
        // A read and a delete receive only the outputs in state, so they must contain a changed timeout.
        const isStored = (["read", "delete"] as const).every(
          (operation) => oldProperties.internal.timeout(operation) === newProperties.internal.timeout(operation),
        );
        return { changes: changes.length > 0 || hasPlaintextSecrets || !isStored, ...rest };
      });
    },

    create: (news: EngineProperties) => {
      const inputs = splitProperties(news);
      return callOperation("create", inputs, async (call) => {
        const { id, outputs } = await pipeline.create(call, inputs);
        return { id, outs: stateOf(outputs, inputs.internal) };
      });
    },

    read: (id, props = {}) => {
      const state = splitProperties(props);
      return callOperation("read", state, async (call) => {
        const { isLookedUp } = state.internal;
        const inputs = isLookedUp ? { ...state, properties: {} } : state;
        const isLookup = isLookedUp && Object.keys(state.properties).length === 0;
        const result = await pipeline.read(call, id, state, inputs, isLookup);
        if (!result) return { id: "", props: {} };
        return { id, props: stateOf(result.outputs, state.internal), inputs: wireOf(result.inputs, state.internal) };
      });
    },

    update: (id, olds: EngineProperties, news: EngineProperties) => {
      const newProperties = splitProperties(news);
      return callOperation("update", newProperties, async (call) => ({
        outs: stateOf(await pipeline.update(call, id, splitProperties(olds), newProperties), newProperties.internal),
      }));
    },

    delete: (id, props: EngineProperties) => {
      const state = splitProperties(props);
      return callOperation("delete", state, (call) => pipeline.delete(call, id, state));
    },
  };
}

/**
 * Providers of this process by kind. They share one process state, created with the first provider, because programs also load this
 * module.
 */
export function createProviders(kinds: Readonly<Record<string, ResourceOperations | undefined>>) {
  let providerProcess: ProviderProcess | undefined;
  return (kind: string): dynamic.ResourceProvider<EngineProperties, EngineProperties> => {
    const operations = kinds[kind];
    if (!operations) {
      throw new Error(
        `the installed pulumi-serverless-compute has no resource "${kind}": install the version that created it, or a later one`,
      );
    }
    if (!providerProcess) {
      providerProcess = createProviderProcess(() => process.argv[2]);
      handleEngineSignals(providerProcess.cancellation, process.argv[2]);
    }
    return createProvider(operations, providerProcess);
  };
}

import type { dynamic } from "@pulumi/pulumi";
import { handleEngineSignals } from "../engine/cancellation";
import { type EngineProperties, markSecrets, toEngine } from "../engine/engine-properties";
import { messageOf } from "../engine/error-text";
import type { PropertyMap } from "../engine/values";
import type { ResourceOperations } from "../framework/contract";
import { ResourceFailure } from "../framework/failures";
import { createProviderProcess, type Host } from "../framework/process";
import { createResourceVerbs } from "../framework/resource";
import { autoNaming } from "../framework/urn";
import { UnfinishedFailure, VerbFailure } from "./failures";
import { type InternalInputs, splitProperties, type TimedVerb } from "./internal-inputs";

/** Properties for the SDK: secrets are marked, and internal inputs are included, because refresh and delete receive outputs only. */
const wireOf = ({ properties, secretPaths }: PropertyMap, { wire }: InternalInputs): EngineProperties => ({
  ...markSecrets(toEngine(properties), secretPaths),
  ...wire,
});

/**
 * Adapts a lifecycle to the dynamic SDK: removes and restores internal inputs, and converts failures for Pulumi's output.
 */
export function createProvider(
  lifecycle: ResourceOperations,
  host: Host,
): dynamic.ResourceProvider<EngineProperties, EngineProperties> {
  const verbs = createResourceVerbs(lifecycle, host);

  /** Calls a verb; errors get the name of the resource. */
  const callVerb = async <Result>(
    verb: TimedVerb | "read" | "diff",
    { internal }: { internal: InternalInputs },
    action: (call: { urn: string; timeout: number | undefined }) => Promise<Result>,
  ): Promise<Result> => {
    try {
      const timeout = verb === "read" || verb === "diff" ? undefined : internal.timeout(verb);
      return await action({ urn: internal.urn, timeout });
    } catch (thrown) {
      const subject = `${lifecycle.kind} ${JSON.stringify(internal.resourceName)}, ${verb}`;
      const unfinished = thrown instanceof ResourceFailure ? thrown.unfinished : undefined;
      if (!unfinished) throw new VerbFailure(subject, messageOf(thrown));
      throw new UnfinishedFailure(subject, messageOf(thrown), unfinished.id, wireOf(unfinished.outputs, internal));
    }
  };

  return {
    configure: async ({ config }) => host.setConfiguration((key) => config.get(key)),

    check: async (olds: EngineProperties, news: EngineProperties) => {
      const { internal, ...newProperties } = splitProperties(news);
      try {
        for (const verb of ["create", "update", "delete"] as const) internal.timeout(verb);
        const { inputs, failures } = await verbs.check(
          { urn: internal.urn },
          splitProperties(olds),
          newProperties,
          autoNaming(internal.urn),
        );
        return { inputs: { ...toEngine(inputs.properties), ...internal.wire }, failures };
      } catch (thrown) {
        return { inputs: news, failures: [{ property: "", reason: messageOf(thrown) }] };
      }
    },

    diff: (id, olds: EngineProperties, news: EngineProperties) => {
      const newProperties = splitProperties(news);
      return callVerb("diff", newProperties, async (call) => {
        const oldProperties = splitProperties(olds);
        const { changes, hasPlaintextSecrets, ...rest } = await verbs.diff(
          call,
          id,
          oldProperties,
          newProperties,
          newProperties.internal.requiresReplacement,
        );
        // A delete receives only the outputs in state, so they must contain a changed timeout.
        const isStored = oldProperties.internal.timeout("delete") === newProperties.internal.timeout("delete");
        return { changes: changes.length > 0 || hasPlaintextSecrets || !isStored, ...rest };
      });
    },

    create: (news: EngineProperties) => {
      const inputs = splitProperties(news);
      return callVerb("create", inputs, async (call) => {
        const { id, outputs } = await verbs.create(call, inputs);
        return { id, outs: wireOf(outputs, inputs.internal) };
      });
    },

    read: (id, props = {}) => {
      const state = splitProperties(props);
      return callVerb("read", state, async (call) => {
        const result = await verbs.read(call, id, state, state);
        // In a lookup, the engine treats an empty response as an object without properties.
        if (!result && state.internal.mustExist) throw new Error(`${lifecycle.kind} "${id}" does not exist`);
        if (!result) return { id: "", props: {} };
        const { outputs, inputs } = result;
        return { id: result.id, props: wireOf(outputs, state.internal), inputs: wireOf(inputs, state.internal) };
      });
    },

    update: (id, olds: EngineProperties, news: EngineProperties) => {
      const newProperties = splitProperties(news);
      return callVerb("update", newProperties, async (call) => ({
        outs: wireOf(await verbs.update(call, id, splitProperties(olds), newProperties), newProperties.internal),
      }));
    },

    delete: (id, props: EngineProperties) => {
      const state = splitProperties(props);
      return callVerb("delete", state, (call) => verbs.delete(call, id, state));
    },
  };
}

/**
 * Providers of this process by kind. They share one host, created with the first provider, because programs also load this
 * module.
 */
export function createProviders(kinds: Readonly<Record<string, ResourceOperations | undefined>>) {
  let host: Host | undefined;
  return (kind: string): dynamic.ResourceProvider<EngineProperties, EngineProperties> => {
    const lifecycle = kinds[kind];
    if (!lifecycle) {
      throw new Error(
        `the installed pulumi-serverless-compute has no resource "${kind}": install the version that created it, or a later one`,
      );
    }
    if (!host) {
      host = createProviderProcess(() => process.argv[2]);
      handleEngineSignals(host.cancellation, process.argv[2]);
    }
    return createProvider(lifecycle, host);
  };
}

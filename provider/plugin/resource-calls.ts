import { isDeepStrictEqual } from "node:util";
import {
  autonamingDisabled,
  type checkRequest,
  type checkResponse,
  type createRequest,
  type createResponse,
  type deleteRequest,
  diffChanges,
  diffKinds,
  type diffRequest,
  type diffResponse,
  type empty,
  type Request,
  type Response,
  type readRequest,
  type readResponse,
  type updateRequest,
  type updateResponse,
} from "../engine/messages";
import { pathText } from "../engine/values";
import type { Change, Naming, ResourceOperations } from "../framework/contract";
import { changedProperties } from "../framework/definition";
import { createPipeline, type Pipeline, type ResourceCall } from "../framework/pipeline";
import type { ProviderProcess } from "../framework/process";
import { autoNaming, parseUrn, shortType } from "../framework/urn";

/** Handlers of Check, Diff, Create, Update, Read and Delete. */
export function resourceCalls(providerProcess: ProviderProcess, table: Readonly<Record<string, ResourceOperations>>) {
  const pipelines = new Map(
    Object.entries(table).map(([kind, operations]) => [kind, createPipeline(operations, providerProcess)]),
  );
  const pipelineFor = ({ urn }: { urn: string }): Pipeline => {
    const { type } = parseUrn(urn);
    const pipeline = pipelines.get(shortType(type));
    if (pipeline) return pipeline;
    throw new Error(
      `unknown resource type ${type}; this provider supports ${[...pipelines.keys()].join(", ")}; instead of a component, import its resources`,
    );
  };

  return {
    check: async (request: Request<typeof checkRequest>): Promise<Response<typeof checkResponse>> => {
      const { urn, olds, news } = request;
      return pipelineFor(request).check({ urn }, olds, news, namingOf(request));
    },

    diff: async (request: Request<typeof diffRequest>): Promise<Response<typeof diffResponse>> => {
      const { id, urn, olds, news } = request;
      const pipeline = pipelineFor(request);
      const { changes, hasPlaintextSecrets, ...rest } = await pipeline.diff({ urn }, id, olds, news);
      const oldOutputs = olds.properties;
      // Without changes, the engine does not use `stables`.
      const outputs = changes.length > 0 ? pipeline.previewOutputs(id, olds, news).properties : oldOutputs;
      return {
        ...rest,
        changes: changes.length > 0 || hasPlaintextSecrets ? diffChanges.some : diffChanges.none,
        // Without a detailed diff, the engine compares the inputs and shows the secret.
        hasDetailedDiff: changes.length > 0 || !hasPlaintextSecrets,
        detailedDiff: new Map(changes.map((change) => [pathText(change.path), { kind: diffKind(change) }])),
        diffs: changedProperties(changes),
        stables: Object.keys(oldOutputs).filter((key) => isDeepStrictEqual(oldOutputs[key], outputs[key])),
      };
    },

    create: async (request: Request<typeof createRequest>): Promise<Response<typeof createResponse>> => {
      const { properties: news, preview } = request;
      const pipeline = pipelineFor(request);
      if (preview) return { properties: pipeline.previewOutputs(undefined, undefined, news) };
      const { id, outputs } = await pipeline.create(callOf(request), news);
      return { id, properties: outputs };
    },

    update: async (request: Request<typeof updateRequest>): Promise<Response<typeof updateResponse>> => {
      const { id, olds, news, preview } = request;
      const pipeline = pipelineFor(request);
      if (preview) return { properties: pipeline.previewOutputs(id, olds, news) };
      return { properties: await pipeline.update(callOf(request), id, olds, news) };
    },

    read: async (request: Request<typeof readRequest>): Promise<Response<typeof readResponse>> => {
      const { id, properties: olds, inputs } = request;
      const result = await pipelineFor(request).read(callOf(request), id, olds, inputs);
      return result ? { id, properties: result.outputs, inputs: result.inputs } : {};
    },

    delete: async (request: Request<typeof deleteRequest>): Promise<Response<typeof empty>> => {
      await pipelineFor(request).delete(callOf(request), request.id, request.properties);
      return {};
    },
  };
}

/** URN and timeout (ms) of a request. The protocol sends the timeout in seconds, 0 for none. */
const callOf = ({ urn, timeout }: { urn: string; timeout: number }): ResourceCall => ({
  urn,
  timeout: timeout > 0 ? timeout * 1000 : undefined,
});

/** Naming of a resource. `pulumi:autonaming` in the stack's config proposes a name or disables generated names. */
function namingOf({ urn, randomSeed, autonaming }: Request<typeof checkRequest>): Naming {
  const naming = autoNaming(urn, randomSeed);
  if (!autonaming) return naming;
  const { mode, proposedName: name } = autonaming;
  return { ...naming, defaultName: mode === autonamingDisabled ? undefined : { name, isUnique: false } };
}

const diffKind = ({ kind, replace }: Change): number => diffKinds[kind][replace ? 1 : 0];

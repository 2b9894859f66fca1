import { isDeepStrictEqual } from "node:util";
import {
  CheckFailure,
  CheckRequest,
  CheckResponse,
  type CreateRequest,
  CreateResponse,
  type DeleteRequest,
  type DiffRequest,
  DiffResponse,
  PropertyDiff,
  type ReadRequest,
  ReadResponse,
  type UpdateRequest,
  UpdateResponse,
} from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import type { Host } from "../engine/host";
import { createResourceVerbs, type ResourceCall, type ResourceVerbs, touched } from "../engine/resource-verbs";
import { defaultName, readUrn } from "../engine/urn";
import type { Change, Lifecycle, Properties } from "../lifecycle/contract";
import { readStruct, structOf } from "./structs";

/** The calls that concern one resource. */
export function resourceCalls(host: Host, lifecycles: Readonly<Record<string, Lifecycle>>) {
  const verbsByKind = new Map(
    Object.entries(lifecycles).map(([kind, lifecycle]) => [kind, createResourceVerbs(lifecycle, host)]),
  );
  const verbsFor = (request: { getUrn(): string }): ResourceVerbs => {
    const { type } = readUrn(request.getUrn());
    const verbs = verbsByKind.get(type.slice(type.lastIndexOf(":") + 1));
    if (verbs) return verbs;
    throw new Error(`unknown resource type ${type}; this provider has ${[...verbsByKind.keys()].join(", ")}`);
  };

  return {
    check: (request: CheckRequest): CheckResponse => {
      const [olds, news] = [readStruct(request.getOlds()), readStruct(request.getNews())];
      const { properties, name } = named(request, olds.properties);
      const call = { urn: request.getUrn() };
      const { inputs, failures } = verbsFor(request).check(call, { ...olds, properties }, news, name);
      const response = new CheckResponse();
      response.setInputs(structOf(inputs));
      for (const reason of failures) {
        const failure = new CheckFailure();
        failure.setReason(reason);
        response.addFailures(failure);
      }
      return response;
    },

    diff: async (request: DiffRequest): Promise<DiffResponse> => {
      const [olds, news] = [readStruct(request.getOlds()), readStruct(request.getNews())];
      const verbs = verbsFor(request);
      const { changes, replaces, deleteBeforeReplace } = await verbs.diff(
        { urn: request.getUrn() },
        request.getId(),
        olds,
        news,
      );
      const response = new DiffResponse();
      response.setChanges(changes.length > 0 ? DiffResponse.DiffChanges.DIFF_SOME : DiffResponse.DiffChanges.DIFF_NONE);
      response.setHasdetaileddiff(true);
      for (const change of changes) response.getDetaileddiffMap().set(pathText(change.path), propertyDiff(change));
      response.setReplacesList(replaces);
      response.setDeletebeforereplace(deleteBeforeReplace);
      response.setDiffsList(touched(changes));
      const had = olds.properties;
      const { properties: outputs } = verbs.previewOutputs(request.getId(), olds, news);
      response.setStablesList(Object.keys(had).filter((key) => isDeepStrictEqual(had[key], outputs[key])));
      return response;
    },

    create: async (request: CreateRequest): Promise<CreateResponse> => {
      const news = readStruct(request.getProperties());
      const verbs = verbsFor(request);
      const { id, outputs } = request.getPreview()
        ? { id: "", outputs: verbs.previewOutputs(undefined, undefined, news) }
        : await verbs.create(callOf(request), news);
      const response = new CreateResponse();
      response.setId(id);
      response.setProperties(structOf(outputs));
      return response;
    },

    update: async (request: UpdateRequest): Promise<UpdateResponse> => {
      const [olds, news] = [readStruct(request.getOlds()), readStruct(request.getNews())];
      const verbs = verbsFor(request);
      const outputs = request.getPreview()
        ? verbs.previewOutputs(request.getId(), olds, news)
        : await verbs.update(callOf(request), request.getId(), olds, news);
      const response = new UpdateResponse();
      response.setProperties(structOf(outputs));
      return response;
    },

    read: async (request: ReadRequest): Promise<ReadResponse> => {
      const [inputs, olds] = [readStruct(request.getInputs()), readStruct(request.getProperties())];
      const reading = await verbsFor(request).read(callOf(request), request.getId(), olds, inputs);
      const response = new ReadResponse();
      if (!reading) return response;
      response.setId(reading.id);
      response.setProperties(structOf(reading.outputs));
      response.setInputs(structOf(reading.inputs));
      return response;
    },

    delete: async (request: DeleteRequest): Promise<Empty> => {
      await verbsFor(request).delete(callOf(request), request.getId(), readStruct(request.getProperties()));
      return new Empty();
    },
  };
}

/** The resource of a request and the time that it allows; the protocol has seconds, 0 for none. */
const callOf = (request: { getUrn(): string; getTimeout(): number }): ResourceCall => ({
  urn: request.getUrn(),
  timeout: request.getTimeout() > 0 ? request.getTimeout() * 1000 : undefined,
});

/** What a resource without a name is checked with: its default name, or what `pulumi:autonaming` asks for. */
function named(request: CheckRequest, olds: Properties): { properties: Properties; name: string | undefined } {
  const autonaming = request.getAutonaming();
  if (!autonaming) return { properties: olds, name: defaultName(request.getUrn()) };
  if (autonaming.getMode() !== CheckRequest.AutonamingOptions.Mode.DISABLE)
    return { properties: olds, name: autonaming.getProposedName() };
  const { name: _had, ...nameless } = olds;
  return { properties: nameless, name: undefined };
}

/** A path in the engine's own notation: `env.MODEL`, `env["a.b"]`, `gpuTypeIds[0]`. */
function pathText(path: readonly string[]): string {
  return path
    .map((part, index) => {
      if (/^\d+$/.test(part) && index > 0) return `[${part}]`;
      if (/^[A-Za-z_$][\w$]*$/.test(part)) return index === 0 ? part : `.${part}`;
      return `[${JSON.stringify(part)}]`;
    })
    .join("");
}

const kinds = {
  add: [PropertyDiff.Kind.ADD, PropertyDiff.Kind.ADD_REPLACE],
  delete: [PropertyDiff.Kind.DELETE, PropertyDiff.Kind.DELETE_REPLACE],
  update: [PropertyDiff.Kind.UPDATE, PropertyDiff.Kind.UPDATE_REPLACE],
} as const;

function propertyDiff({ kind, replace }: Change): PropertyDiff {
  const difference = new PropertyDiff();
  difference.setKind(kinds[kind][replace ? 1 : 0]);
  return difference;
}

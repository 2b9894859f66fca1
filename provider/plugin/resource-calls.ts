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
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { createRedaction } from "serverless-compute-api/redaction";
import { replacement, secretByShape, secretOutputs, touched } from "../engine/answers";
import { messageOf } from "../engine/failures";
import type { Host } from "../engine/host";
import { defaultName, readUrn } from "../engine/urn";
import {
  type Change,
  type Context,
  type Lifecycle,
  PartialFailure,
  type Path,
  type Properties,
  type Secrets,
} from "../lifecycle/contract";
import type { PreviewPlace } from "../lifecycle/properties/preview-outputs";
import { secretsAmong } from "../lifecycle/properties/secret-paths";
import { UnfinishedCall } from "./calls";
import { type Received, readStruct, writeStruct } from "./structs";

/** A verb's place: which resource, how long, and what must not be shown. */
interface Scene {
  urn: string;
  /** Seconds, 0 for none. */
  timeout: number;
  sides: Received[];
}

/** The calls that concern one resource. */
export function resourceCalls(host: Host, lifecycles: Readonly<Record<string, Lifecycle>>) {
  const lifecycleOf = (urn: string): Lifecycle => {
    const { type } = readUrn(urn);
    const lifecycle = lifecycles[type.slice(type.lastIndexOf(":") + 1)];
    if (!lifecycle)
      throw new Error(`${type} is no resource of this provider; it has ${Object.keys(lifecycles).join(", ")}`);
    return lifecycle;
  };

  /** What a preview knows of a resource beside its inputs. */
  const place = (id?: string): PreviewPlace => ({ id, serverlessUrl: host.serverlessUrl() });

  /** Resources whose inputs were checked and not yet compared: a diff without a check belongs to a refresh. */
  const checked = new Set<string>();
  /** Ids that the state has: a create that looks for what an interrupted one left takes none of them. */
  const deployed = new Set<string>();

  const talking = async <Answer>(scene: Scene, act: (context: Context) => Promise<Answer>): Promise<Answer> => {
    const lifecycle = lifecycleOf(scene.urn);
    const secrets = secretsOf(lifecycle, scene.sides);
    const clean = createRedaction(secrets.values);
    try {
      const { clock, connect } = host;
      return await host.cancellation.run((signal) =>
        act({
          ...connect(),
          clock,
          signal,
          defaultName: defaultName(scene.urn),
          inState: deployed,
          secrets,
          timeout: scene.timeout > 0 ? scene.timeout * 1000 : undefined,
          progress: (text) => host.log.progress(scene.urn, clean(text)),
          warn: (text) => host.log.warning(scene.urn, clean(text)),
        }),
      );
    } catch (thrown) {
      const inputs = scene.sides.at(-1) ?? { properties: {}, secrets: [] };
      if (thrown instanceof PartialFailure)
        throw new UnfinishedCall(
          clean(thrown.message),
          thrown.id,
          outputStruct(lifecycle, thrown.outputs, inputs.secrets),
          writeStruct(inputs.properties, inputs.secrets),
        );
      throw new Error(clean(messageOf(thrown)));
    }
  };

  return {
    check: (request: CheckRequest): CheckResponse => {
      const olds = readStruct(request.getOlds());
      const news = readStruct(request.getNews());
      const lifecycle = lifecycleOf(request.getUrn());
      const secrets = secretsOf(lifecycle, [olds, news]);
      const clean = createRedaction(secrets.values);
      const { inputs, failures } = named(request, olds.properties, (before, name) =>
        lifecycle.check(before, news.properties, name, secrets.paths),
      );
      checked.add(request.getUrn());
      const response = new CheckResponse();
      response.setInputs(writeStruct(inputs, [...secretByShape(lifecycle), ...news.secrets]));
      for (const { path, reason } of failures) {
        const one = new CheckFailure();
        // A property here makes the engine print the value behind it; the path is part of the sentence instead.
        one.setReason(clean(path ? `${path}: ${reason}` : reason));
        response.addFailures(one);
      }
      return response;
    },

    diff: (request: DiffRequest): DiffResponse => {
      const lifecycle = lifecycleOf(request.getUrn());
      const olds = readStruct(request.getOlds()).properties;
      const news = readStruct(request.getNews()).properties;
      const changes = lifecycle.diff(olds, news);
      deployed.add(request.getId());
      // Twice in a preview would be once too often, and a refresh changes nothing at the service.
      if (checked.delete(request.getUrn())) {
        for (const warning of lifecycle.warnings(changes)) host.log.warning(request.getUrn(), warning);
      }
      const response = new DiffResponse();
      response.setChanges(changes.length > 0 ? DiffResponse.DiffChanges.DIFF_SOME : DiffResponse.DiffChanges.DIFF_NONE);
      response.setHasdetaileddiff(true);
      for (const change of changes) response.getDetaileddiffMap().set(pathText(change.path), propertyDiff(change));
      const { replaces, deleteBeforeReplace } = replacement(lifecycle, changes, olds, news);
      response.setReplacesList(replaces);
      response.setDeletebeforereplace(deleteBeforeReplace);
      response.setDiffsList(touched(changes));
      const outputs = lifecycle.previewOutputs(olds, news, place(request.getId()));
      response.setStablesList(Object.keys(olds).filter((key) => isDeepStrictEqual(olds[key], outputs[key])));
      return response;
    },

    create: async (request: CreateRequest): Promise<CreateResponse> => {
      const news = readStruct(request.getProperties());
      const lifecycle = lifecycleOf(request.getUrn());
      const response = new CreateResponse();
      if (request.getPreview()) {
        const outputs = lifecycle.previewOutputs(undefined, news.properties, place());
        response.setProperties(outputStruct(lifecycle, outputs, news.secrets));
        return response;
      }
      const scene = { urn: request.getUrn(), timeout: request.getTimeout(), sides: [news] };
      const { id, outputs } = await talking(scene, (context) => lifecycle.create(news.properties, context));
      if (!id) throw new Error(`the service made the ${lifecycle.kind} but answered without its id`);
      response.setId(id);
      response.setProperties(outputStruct(lifecycle, outputs, news.secrets));
      return response;
    },

    update: async (request: UpdateRequest): Promise<UpdateResponse> => {
      const [olds, news] = [readStruct(request.getOlds()), readStruct(request.getNews())];
      const lifecycle = lifecycleOf(request.getUrn());
      const response = new UpdateResponse();
      if (request.getPreview()) {
        const outputs = lifecycle.previewOutputs(olds.properties, news.properties, place(request.getId()));
        response.setProperties(outputStruct(lifecycle, outputs, news.secrets));
        return response;
      }
      const scene = { urn: request.getUrn(), timeout: request.getTimeout(), sides: [olds, news] };
      const outputs = await talking(scene, (context) =>
        lifecycle.update(request.getId(), olds.properties, news.properties, context),
      );
      response.setProperties(outputStruct(lifecycle, outputs, news.secrets));
      return response;
    },

    read: async (request: ReadRequest): Promise<ReadResponse> => {
      const [inputs, olds] = [readStruct(request.getInputs()), readStruct(request.getProperties())];
      const lifecycle = lifecycleOf(request.getUrn());
      const scene = { urn: request.getUrn(), timeout: request.getTimeout(), sides: [olds, inputs] };
      const reading = await talking(scene, (context) => lifecycle.read(request.getId(), olds.properties, context));
      const response = new ReadResponse();
      if (!reading) return response;
      response.setId(reading.id);
      response.setProperties(outputStruct(lifecycle, reading.outputs, olds.secrets));
      response.setInputs(writeStruct(reading.inputs, [...secretByShape(lifecycle), ...inputs.secrets]));
      return response;
    },

    delete: async (request: DeleteRequest): Promise<Empty> => {
      const olds = readStruct(request.getProperties());
      const scene = { urn: request.getUrn(), timeout: request.getTimeout(), sides: [olds] };
      await talking(scene, (context) =>
        lifecycleOf(request.getUrn()).delete(request.getId(), olds.properties, context),
      );
      return new Empty();
    },
  };
}

/** Checks under the name that a resource without one gets: its default name, or what `pulumi:autonaming` asks for. */
function named<Answer>(
  request: CheckRequest,
  olds: Properties,
  check: (olds: Properties, name: string | undefined) => Answer,
): Answer {
  const autonaming = request.getAutonaming();
  if (!autonaming) return check(olds, defaultName(request.getUrn()));
  if (autonaming.getMode() !== CheckRequest.AutonamingOptions.Mode.DISABLE)
    return check(olds, autonaming.getProposedName());
  const { name: _had, ...nameless } = olds;
  return check(nameless, undefined);
}

function outputStruct(lifecycle: Lifecycle, outputs: Properties, secretInputs: readonly Path[]): Struct {
  return writeStruct(outputs, secretOutputs(lifecycle, secretInputs));
}

/** What messages about the sides of a verb must not show. */
const secretsOf = (lifecycle: Lifecycle, sides: readonly Received[]): Secrets =>
  secretsAmong(
    sides.map(({ properties }) => properties),
    [...secretByShape(lifecycle), ...sides.flatMap(({ secrets }) => secrets)],
  );

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

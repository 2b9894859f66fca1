import type { FastifyInstance } from "fastify";
import {
  restEndpointCreate,
  restEndpointPatch,
  restNetworkVolumeCreate,
  restTemplateCreate,
  restTemplatePatch,
} from "serverless-compute-api/shapes";
import { z } from "zod";
import type { Resources } from "../resources";
import { account } from "../resources/account";
import { splitList } from "../resources/catalog";
import { type EndpointRow, flashBootType } from "../resources/endpoint-table";
import { commandLineOf, startCommandOf, type TemplateChanges, type TemplateRow } from "../resources/template-table";
import { type VolumeRow, volumeChange } from "../resources/volumes";
import { parseInput } from "../validation";
import type { WorkerState } from "../workers/worker-record";
import { registerPodRoutes } from "./pods";
import { isoTime } from "./responses";
import { wordsOf } from "./rest-v2-start-command";

/** Options of the REST API. */
export interface RestOptions {
  /** True if endpoints that still allow workers cannot be deleted. */
  deleteNeedsScaleDown: boolean;
  /** Returns the workers of an endpoint, for `includeWorkers`. */
  workers(endpointId: string): WorkerState[];
}

/** A boolean in a query; Python clients send True and False. */
const flag = z
  .string()
  .toLowerCase()
  .pipe(z.enum(["true", "false", "1", "0"]))
  .transform((text) => text === "true" || text === "1")
  .optional();
const querySchema = z.object({ includeTemplate: flag, includeWorkers: flag, includeEndpointBoundTemplates: flag });
type Query = z.output<typeof querySchema>;

/** Operations of one noun; each returns a response body. */
interface Noun {
  list(query: Query): unknown[];
  get(id: string, query: Query): unknown;
  create(body: unknown): unknown;
  /** Undefined if the API does not support updates. */
  update?(id: string, body: unknown): unknown;
  remove(id: string): void;
}

/** The body of an endpoint update. `computeType` cannot be changed; it is parsed only to reject a different value. */
const endpointPatch = restEndpointPatch.extend({ computeType: z.string().optional() });

/** Operations of each noun by path. */
function nounsOf(resources: Resources, options: RestOptions): Record<string, Noun> {
  const { endpoints, templates, volumes, registryAuths } = resources;
  const endpointRecord = (endpoint: EndpointRow, { includeTemplate, includeWorkers }: Query = {}) => {
    const template = includeTemplate ? templates.find(endpoint.templateId) : undefined;
    const workers = includeWorkers ? options.workers(endpoint.id) : [];
    const { flashbootPriority: _priority, ...fields } = endpoint;
    return {
      ...fields,
      flashBootType: flashBootType(endpoint),
      scalerValue: Math.ceil(endpoint.scalerValue),
      createdAt: isoTime(endpoint.createdAt),
      userId: account.id,
      workers: workers.map((worker) => ({ ...worker, startedAt: isoTime(worker.startedAt) })),
      template: template && templateRecord(template),
    };
  };
  return {
    "/endpoints": {
      list: (query) => endpoints.list().map((endpoint) => endpointRecord(endpoint, query)),
      get: (id, query) => endpointRecord(endpoints.get(id), query),
      create: (body) => endpointRecord(endpoints.create(parseInput(restEndpointCreate, body))),
      update: (id, body) => endpointRecord(endpoints.update(id, parseInput(endpointPatch, body))),
      remove: (id) => endpoints.remove(id, { needsScaleDown: options.deleteNeedsScaleDown }),
    },
    "/templates": {
      list: ({ includeEndpointBoundTemplates: bound = false }) => templates.list({ bound }).map(templateRecord),
      get: (id) => templateRecord(templates.get(id)),
      create: (body) => templateRecord(templates.create(newTemplate(body))),
      update: (id, body) => templateRecord(templates.update(id, templateChanges(body, templates.get(id)))),
      remove: templates.remove,
    },
    "/networkvolumes": {
      list: () => volumes.list().map(volumeRecord),
      get: (id) => volumeRecord(volumes.get(id)),
      create: (body) => volumeRecord(volumes.create(parseInput(restNetworkVolumeCreate, body))),
      update: (id, body) => volumeRecord(volumes.update(id, parseInput(volumeChange, body))),
      remove: volumes.remove,
    },
    "/containerregistryauth": {
      list: registryAuths.list,
      get: registryAuths.get,
      create: registryAuths.create,
      remove: registryAuths.remove,
    },
  };
}

/** Registers the REST management API (interface: REST management API) under its version prefix. */
export function registerRestRoutes(app: FastifyInstance, resources: Resources, options: RestOptions): void {
  type Id = { Params: { id: string } };
  const queryOf = (query: unknown): Query => parseInput(querySchema, query);
  // The local service is free.
  for (const kind of ["endpoints", "networkvolumes", "pods"]) app.get(`/billing/${kind}`, async () => []);
  registerPodRoutes(app, []);
  for (const [path, { list, get, create, update, remove }] of Object.entries(nounsOf(resources, options))) {
    app.get(path, async ({ query }) => list(queryOf(query)));
    app.post(path, async ({ body }) => create(body));
    app.get<Id>(`${path}/:id`, async ({ params, query }) => get(params.id, queryOf(query)));
    app.delete<Id>(`${path}/:id`, async ({ params }, reply) => {
      remove(params.id);
      return reply.status(204).send();
    });
    if (!update) continue;
    app.patch<Id>(`${path}/:id`, async ({ params, body }) => update(params.id, body));
    app.post<Id>(`${path}/:id/update`, async ({ params, body }) => update(params.id, body));
  }
}

/** Default size of a pod's volume, GB. */
const defaultPodVolume = 20;

/** Reads the body of POST /templates. */
function newTemplate(body: unknown): TemplateChanges {
  const { ports, dockerStartCmd, volumeInGb, ...fields } = parseInput(restTemplateCreate, body);
  return {
    ...fields,
    volumeInGb: volumeInGb ?? (fields.isServerless ? 0 : defaultPodVolume),
    ports: ports.join(","),
    dockerArgs: commandLineOf(dockerStartCmd),
  };
}

/** Reads the body of PATCH /templates/{id}. A change of one list in dockerArgs keeps the other list. */
function templateChanges(body: unknown, { dockerArgs }: TemplateRow): TemplateChanges {
  const { ports, dockerStartCmd, dockerEntrypoint, ...fields } = parseInput(restTemplatePatch, body);
  const unchanged = dockerStartCmd === undefined && dockerEntrypoint === undefined;
  const { cmd, entrypoint } = (unchanged ? undefined : startCommandOf(dockerArgs)) ?? {};
  const words = dockerStartCmd === undefined ? cmd : dockerStartCmd;
  return {
    ...fields,
    ports: ports?.join(","),
    dockerArgs: words && commandLineOf(words),
    dockerEntrypoint: dockerEntrypoint === undefined ? entrypoint : dockerEntrypoint,
  };
}

function templateRecord({ createdAt: _created, lastUsedAt: _used, ...template }: TemplateRow) {
  const { cmd, entrypoint = template.dockerEntrypoint } = startCommandOf(template.dockerArgs) ?? {};
  return {
    ...template,
    ports: splitList(template.ports),
    dockerEntrypoint: entrypoint,
    dockerStartCmd: cmd ?? wordsOf(template.dockerArgs),
  };
}

/** A network volume as returned by REST v1, without the `type` of REST v2, because strict clients reject unknown fields. */
const volumeRecord = ({ id, name, size, dataCenterId }: VolumeRow) => ({ id, name, size, dataCenterId });

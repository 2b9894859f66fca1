import type { FastifyInstance } from "fastify";
import {
  restEndpointCreate,
  restEndpointPatch,
  restTemplateCreate,
  restTemplatePatch,
} from "serverless-compute-api/shapes";
import { z } from "zod";
import type { EndpointRow } from "../store/endpoints";
import { parseInput } from "../validation";
import type { Management } from "./management";
import {
  endpointRecord,
  templateChangesFromRest,
  templateFromRest,
  templateRecord,
  volumeRecord,
  type WorkerState,
} from "./rest-records";

/** What the REST door is told beside the rules. */
export interface RestOptions {
  /** Whether an endpoint that still allows workers cannot be deleted. */
  deleteNeedsScaleDown: boolean;
  /** The workers of an endpoint, for `includeWorkers`. */
  workers(endpointId: string): WorkerState[];
}

/** One noun of the API: what stands behind its paths. Every answer is a body. */
interface Noun {
  list(query: Query): unknown[];
  get(id: string, query: Query): unknown;
  create(body: unknown): unknown;
  /** Absent where the API knows no change. */
  update?(id: string, body: unknown): unknown;
  remove(id: string): void;
}

const flag = z
  .enum(["true", "false", "1", "0"])
  .transform((text) => text === "true" || text === "1")
  .optional();
const querySchema = z.object({ includeTemplate: flag, includeWorkers: flag });
type Query = z.output<typeof querySchema>;

/** The REST management API (interface: REST management API), to be registered under its version prefix. */
export function registerRestRoutes(app: FastifyInstance, management: Management, options: RestOptions): void {
  register(app, "/endpoints", endpointNoun(management, options));
  register(app, "/templates", templateNoun(management));
  register(app, "/networkvolumes", volumeNoun(management));
  register(app, "/containerregistryauth", registryAuthNoun(management));
}

function register(app: FastifyInstance, path: string, noun: Noun): void {
  type Id = { Params: { id: string } };
  const query = (sent: unknown): Query => parseInput(querySchema, sent);
  app.get(path, async (request) => noun.list(query(request.query)));
  app.post(path, async (request) => noun.create(request.body));
  app.get<Id>(`${path}/:id`, async (request) => noun.get(request.params.id, query(request.query)));
  app.delete<Id>(`${path}/:id`, async (request, reply) => {
    noun.remove(request.params.id);
    return reply.status(204).send();
  });
  const { update } = noun;
  if (!update) return;
  app.patch<Id>(`${path}/:id`, async (request) => update(request.params.id, request.body));
  app.post<Id>(`${path}/:id/update`, async (request) => update(request.params.id, request.body));
}

/** `computeType` is no part of a change; it is read to refuse one. */
const endpointPatch = restEndpointPatch.extend({ computeType: z.string().optional() });

function endpointNoun({ endpoints, templates }: Management, options: RestOptions): Noun {
  const record = (endpoint: EndpointRow, query: Query = {}) =>
    endpointRecord(endpoint, {
      workers: query.includeWorkers ? options.workers(endpoint.id) : [],
      ...(query.includeTemplate ? { template: templates.find(endpoint.templateId) } : {}),
    });
  return {
    list: (query) => endpoints.list().map((endpoint) => record(endpoint, query)),
    get: (id, query) => record(endpoints.get(id), query),
    create: (body) => record(endpoints.create(parseInput(restEndpointCreate, body))),
    update: (id, body) => record(endpoints.update(id, parseInput(endpointPatch, body))),
    remove: (id) => endpoints.remove(id, { needsScaleDown: options.deleteNeedsScaleDown }),
  };
}

function templateNoun({ templates }: Management): Noun {
  return {
    list: () => templates.list().map(templateRecord),
    get: (id) => templateRecord(templates.get(id)),
    create: (body) => templateRecord(templates.create(templateFromRest(parseInput(restTemplateCreate, body)))),
    update: (id, body) =>
      templateRecord(templates.update(id, templateChangesFromRest(parseInput(restTemplatePatch, body)))),
    remove: (id) => templates.remove(id),
  };
}

function volumeNoun({ volumes }: Management): Noun {
  return {
    list: () => volumes.list().map(volumeRecord),
    get: (id) => volumeRecord(volumes.get(id)),
    create: (body) => volumeRecord(volumes.create(body)),
    update: (id, body) => volumeRecord(volumes.update(id, body)),
    remove: (id) => volumes.remove(id),
  };
}

function registryAuthNoun({ registryAuths }: Management): Noun {
  return {
    list: () => registryAuths.list(),
    get: (id) => registryAuths.get(id),
    create: (body) => registryAuths.create(body),
    remove: (id) => registryAuths.remove(id),
  };
}

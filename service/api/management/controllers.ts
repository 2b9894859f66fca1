import type { FastifyInstance } from "fastify";
import {
  limits,
  restEndpointCreate,
  restEndpointPatch,
  restNetworkVolumeCreate,
  v2NetworkVolumeCreate,
  v2NetworkVolumePatch,
  v2RegistryCreate,
} from "serverless-compute-api/shapes";
import { z } from "zod";
import type { Resources } from "../../resources";
import type { EndpointRow } from "../../resources/endpoint-table";
import { withoutNulls } from "../../resources/table";
import { type VolumeRow, volumeChange } from "../../resources/volumes";
import { parseInput, parseV2 } from "../../validation";
import type { WorkerState } from "../../workers/worker-record";
import { readV2Container, readV2Endpoint, v1Endpoint, v2Endpoint, v2EndpointDefaults } from "./endpoint";
import { copiedTemplate, readEndpointCreate, readEndpointPatch } from "./endpoint-rules";
import type { Pager, ReadNewest } from "./pages";
import { secretController } from "./secret";
import {
  readV1Template,
  readV1TemplatePatch,
  readV2Template,
  readV2TemplatePatch,
  v1Template,
  v2Template,
} from "./template";

/** Operations on the objects of a kind in a version of the REST API. Each returns a response body. */
export interface Controller {
  list(query: unknown): unknown;
  get(id: string, query?: unknown): unknown;
  create(body: unknown): unknown;
  /** Undefined if the version does not support updates. */
  update?(id: string, body: unknown): unknown;
  remove(id: string): void;
  /** Maximum size of a body, bytes. Defaults to the server's limit. */
  bodyLimit?: number;
}

/** Options of the controllers of REST v1. */
export interface V1Options {
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
const v1Query = z.object({ includeTemplate: flag, includeWorkers: flag, includeEndpointBoundTemplates: flag });
const readV1Query = (query: unknown): z.output<typeof v1Query> => parseInput(v1Query, query);

/** The body of an endpoint update in REST v1. `computeType` cannot be changed; it is parsed only to reject a different value. */
const v1EndpointPatch = restEndpointPatch.extend({ computeType: z.string().optional() });

/** A network volume as returned by REST v1, without the `type` of REST v2, because strict clients reject unknown fields. */
const v1Volume = ({ id, name, size, dataCenterId }: VolumeRow) => ({ id, name, size, dataCenterId });

/** The controllers of REST v1 by path (interface: REST management API). */
export function v1Controllers(
  { endpoints, templates, volumes, registryAuths }: Resources,
  options: V1Options,
): Record<string, Controller> {
  const endpointOf = (endpoint: EndpointRow, query?: unknown) => {
    const { includeTemplate, includeWorkers } = query === undefined ? {} : readV1Query(query);
    const template = includeTemplate ? templates.find(endpoint.templateId) : undefined;
    return v1Endpoint(endpoint, { template, workers: includeWorkers ? options.workers(endpoint.id) : [] });
  };
  return {
    "/endpoints": {
      list: (query) => endpoints.list().map((endpoint) => endpointOf(endpoint, query)),
      get: (id, query) => endpointOf(endpoints.get(id), query),
      create: (body) => endpointOf(endpoints.create(parseInput(restEndpointCreate, body))),
      update: (id, body) => endpointOf(endpoints.update(id, parseInput(v1EndpointPatch, body))),
      remove: (id) => endpoints.remove(id, { needsScaleDown: options.deleteNeedsScaleDown }),
    },
    "/templates": {
      list: (query) =>
        templates.list({ bound: readV1Query(query).includeEndpointBoundTemplates ?? false }).map(v1Template),
      get: (id) => v1Template(templates.get(id)),
      create: (body) => v1Template(templates.create(readV1Template(body))),
      update: (id, body) => v1Template(templates.update(id, readV1TemplatePatch(body, templates.get(id)))),
      remove: templates.remove,
    },
    "/networkvolumes": {
      list: () => volumes.list().map(v1Volume),
      get: (id) => v1Volume(volumes.get(id)),
      create: (body) => v1Volume(volumes.create(parseInput(restNetworkVolumeCreate, body))),
      update: (id, body) => v1Volume(volumes.update(id, parseInput(volumeChange, body))),
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

const v2Volume = ({ id, name, size, dataCenterId, type }: VolumeRow) => ({
  id,
  name,
  size,
  dataCenter: dataCenterId,
  type,
});

/** The controllers of REST v2 by path. */
export type V2Controllers = ReturnType<typeof v2Controllers>;

/** Creates the controllers of REST v2 by path. `serverlessUrl` is the root of the job API without a trailing slash. */
export function v2Controllers(deps: { resources: Resources; pager: Pager; serverlessUrl(): string }) {
  const { resources, pager, serverlessUrl } = deps;
  const { endpoints, endpointContainers, templates, volumes, registryAuths, secrets } = resources;
  const endpointOf = (endpoint: EndpointRow) =>
    v2Endpoint(endpoint, templates.get(endpoint.templateId), serverlessUrl());
  const templateToCopy = (id: string | undefined) => (id === undefined ? undefined : copiedTemplate(templates, id));
  /** Returns a page of a list as `{ <member>: […], pagination }`. */
  const page = <Row>(path: string, member: string, newest: ReadNewest<Row>, record: (row: Row) => unknown) => {
    return (query: unknown) => {
      const { rows, pagination } = pager.page(path, newest, query);
      return { [member]: rows.map((row) => record(row)), pagination };
    };
  };
  return {
    "/serverless": {
      list: page("/serverless", "endpoints", endpoints.newest, endpointOf),
      get: (id) => endpointOf(endpoints.get(id)),
      create: (input) => {
        const body = readEndpointCreate(input);
        const template = templateToCopy(body.templateId);
        const bodyContainer = readV2Container(body, template);
        const container = template
          ? bodyContainer
          : { containerDiskInGb: limits.containerDiskDefault, ...bodyContainer };
        const type = body.type === "LOAD_BALANCER" ? "LB" : "QB";
        const values = { ...v2EndpointDefaults, ...withoutNulls(readV2Endpoint(body, undefined, template)), type };
        return endpointOf(endpointContainers.create(values, container, template));
      },
      update: (id, input) => {
        const endpoint = endpoints.get(id);
        const body = readEndpointPatch(input, endpoint);
        const template = templateToCopy(body.templateId);
        const container = readV2Container(body, template ?? templates.get(endpoint.templateId));
        return endpointOf(endpointContainers.update(id, readV2Endpoint(body, endpoint), container, template));
      },
      // Running jobs do not prevent the deletion.
      remove: (id) => endpoints.remove(id, { needsScaleDown: false }),
    },
    "/templates": {
      list: page("/templates", "templates", templates.newest, v2Template),
      get: (id) => v2Template(templates.get(id)),
      create: (body) => v2Template(templates.create(readV2Template(body))),
      update: (id, body) => v2Template(templates.update(id, readV2TemplatePatch(body, templates.get(id)))),
      remove: templates.remove,
    },
    "/network-volumes": {
      list: page("/network-volumes", "networkVolumes", volumes.newest, v2Volume),
      get: (id) => v2Volume(volumes.get(id)),
      create: (body) => {
        const { dataCenter, ...values } = parseV2(v2NetworkVolumeCreate, body);
        return v2Volume(volumes.create({ ...values, dataCenterId: dataCenter }));
      },
      update: (id, body) => v2Volume(volumes.update(id, parseV2(v2NetworkVolumePatch, body))),
      remove: volumes.remove,
    },
    "/account/secrets": secretController(secrets, pager),
    "/registries": {
      list: page("/registries", "registries", registryAuths.newest, (row) => row),
      get: registryAuths.get,
      create: (body) => registryAuths.create(parseV2(v2RegistryCreate, body)),
      remove: registryAuths.remove,
    },
  } satisfies Record<string, Controller>;
}

/** Registers the routes of controllers under the prefix of their version. */
export function registerControllers(
  app: FastifyInstance,
  version: "v1" | "v2",
  controllers: Record<string, Controller>,
): void {
  type Id = { Params: { id: string } };
  for (const [path, { list, get, create, update, remove, bodyLimit }] of Object.entries(controllers)) {
    const options = bodyLimit === undefined ? {} : { bodyLimit };
    app.get(path, async ({ query }) => list(query));
    app.post(path, options, async ({ body }, reply) => reply.status(version === "v1" ? 200 : 201).send(create(body)));
    app.get<Id>(`${path}/:id`, async ({ params, query }) => get(params.id, query));
    app.delete<Id>(`${path}/:id`, async ({ params }, reply) => {
      // REST v1 returns 400 for an unknown id, REST v2 returns 404.
      if (version === "v2") get(params.id);
      remove(params.id);
      return reply.status(204).send();
    });
    if (!update) continue;
    app.patch<Id>(`${path}/:id`, options, async ({ params, body }) => update(params.id, body));
    if (version === "v1") app.post<Id>(`${path}/:id/update`, async ({ params, body }) => update(params.id, body));
  }
}

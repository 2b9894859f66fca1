import type { FastifyInstance, FastifyReply } from "fastify";
import type { Clock } from "serverless-compute-api/clock";
import {
  v2EndpointCreate,
  v2EndpointPatch,
  v2NetworkVolumeCreate,
  v2NetworkVolumePatch,
  v2RegistryCreate,
  v2TemplateCreate,
  v2TemplatePatch,
} from "serverless-compute-api/shapes";
import type { z } from "zod";
import { ServiceError } from "../errors";
import type { Resources } from "../resources";
import type { EndpointRow } from "../resources/endpoints";
import { withoutNulls } from "../resources/table";
import type { VolumeRow } from "../resources/volumes";
import { parseInput } from "../validation";
import type { Auth } from "./auth";
import { registerCatalogRoutes } from "./rest-v2-catalog";
import {
  endpointContainer,
  endpointDefaults,
  endpointRecord,
  endpointValues,
  loadBalancerRoot,
} from "./rest-v2-endpoints";
import { secretsNoun } from "./rest-v2-secrets";
import { defaultDisk, templateRecord, templateValues } from "./rest-v2-templates";
import { registerWorkerRoutes, type WorkerView } from "./rest-v2-workers";
import type { UserRateLimit } from "./user-rate-limit";

/** What REST v2 needs. */
export interface RestV2Deps {
  auth: Pick<Auth, "checkRestV2">;
  resources: Resources;
  /** Undefined where requests are not limited. */
  rateLimit: UserRateLimit | undefined;
  view: WorkerView;
  clock: Clock;
  /** Root of the job API without a slash at its end; asked once the server listens. */
  serverlessUrl(): string;
}

/** What the paths of one noun do; everything returned is a body. Bodies are checked by their shapes before. */
export interface Noun {
  /** The member of a list's body. */
  plural: string;
  list(query: unknown): unknown[];
  get(id: string): unknown;
  create(body: unknown): unknown;
  /** Absent where the API has no change. */
  update?(id: string, body: unknown): unknown;
  remove(id: string): void;
  /** Size of a body in bytes at most. Default: the server's. */
  bodyLimit?: number;
}

/** A network volume as REST v2 shows it. */
const volumeRecord = ({ id, name, size, dataCenterId, type }: VolumeRow) => ({
  ...{ id, name, size, dataCenter: dataCenterId, type },
});

/** Reads a body; what does not have its shape is 422. */
const read = <Shape extends z.ZodType>(shape: Shape, body: unknown): z.output<Shape> =>
  parseInput(shape, body, "unprocessable");

/** What is behind each path. */
function nounsOf(resources: Resources, serverlessUrl: () => string): Record<string, Noun> {
  const { endpoints, endpointContainers, templates, volumes, registryAuths, secrets } = resources;
  const shown = (endpoint: EndpointRow) =>
    endpointRecord(endpoint, templates.get(endpoint.templateId), serverlessUrl());
  return {
    "/serverless": {
      plural: "endpoints",
      list: () => endpoints.list().map(shown),
      get: (id) => shown(endpoints.get(id)),
      create: (sent) => {
        const body = read(v2EndpointCreate, sent);
        if (body.templateId === undefined && body.image === undefined) {
          throw new ServiceError("invalid", "image: is required where there is no templateId");
        }
        const own = endpointContainer(body);
        const container = body.templateId === undefined ? { containerDiskInGb: defaultDisk, ...own } : own;
        const type = body.type === "LOAD_BALANCER" ? "LB" : "QB";
        const values = { ...endpointDefaults, ...withoutNulls(endpointValues(body, undefined)), type };
        return shown(endpointContainers.create(values, container, body.templateId));
      },
      update: (id, sent) => {
        const body = read(v2EndpointPatch, sent);
        const changes = endpointValues(body, endpoints.get(id));
        return shown(endpointContainers.update(id, changes, endpointContainer(body), body.templateId));
      },
      // Running jobs are no reason to keep it.
      remove: (id) => endpoints.remove(id, { needsScaleDown: false }),
    },
    "/templates": {
      plural: "templates",
      list: () => templates.list().map(templateRecord),
      get: (id) => templateRecord(templates.get(id)),
      create: (sent) => {
        const defaults = { containerDiskInGb: defaultDisk, volumeInGb: 0, startSsh: true, startJupyter: true };
        const given = withoutNulls(templateValues(read(v2TemplateCreate, sent)));
        return templateRecord(templates.create({ ...defaults, ...given }));
      },
      update: (id, sent) => templateRecord(templates.update(id, templateValues(read(v2TemplatePatch, sent)))),
      remove: (id) => {
        try {
          templates.remove(id);
        } catch (error) {
          if (!(error instanceof ServiceError) || error.code !== "inUse") throw error;
          // Clients know this text word for word.
          const known = "Template is in use by a pod or serverless endpoint and cannot be deleted";
          throw new ServiceError("inUse", known, {}, [error.message]);
        }
      },
    },
    "/network-volumes": {
      plural: "networkVolumes",
      list: () => volumes.list().map(volumeRecord),
      get: (id) => volumeRecord(volumes.get(id)),
      create: (sent) => {
        const { dataCenter, ...same } = read(v2NetworkVolumeCreate, sent);
        return volumeRecord(volumes.create({ ...same, dataCenterId: dataCenter }));
      },
      update: (id, sent) => volumeRecord(volumes.update(id, read(v2NetworkVolumePatch, sent))),
      remove: volumes.remove,
    },
    "/account/secrets": secretsNoun(secrets),
    "/registries": {
      plural: "registries",
      list: registryAuths.list,
      get: registryAuths.get,
      create: (sent) => registryAuths.create(read(v2RegistryCreate, sent)),
      remove: registryAuths.remove,
    },
  };
}

/** REST v2, to be registered under the root of the job API. */
export function registerRestV2Routes(app: FastifyInstance, deps: RestV2Deps): void {
  const { auth, resources, rateLimit, serverlessUrl } = deps;
  app.addHook("onRequest", async (request, reply) => {
    auth.checkRestV2(request);
    rateLimit?.admit(reply);
  });
  type Id = { Params: { id: string } };
  for (const [path, { plural, list, get, create, update, remove, bodyLimit }] of Object.entries(
    nounsOf(resources, serverlessUrl),
  )) {
    const options = bodyLimit === undefined ? {} : { bodyLimit };
    app.get(path, async ({ query }) => ({ [plural]: list(query) }));
    app.post(path, options, async ({ body }, reply: FastifyReply) => reply.status(201).send(create(body)));
    app.get<Id>(`${path}/:id`, async ({ params }) => get(params.id));
    app.delete<Id>(`${path}/:id`, async ({ params }, reply) => {
      // REST v1 says 400 of what is not there.
      get(params.id);
      remove(params.id);
      return reply.status(204).send();
    });
    if (update) app.patch<Id>(`${path}/:id`, options, async ({ params, body }) => update(params.id, body));
  }
  registerWorkerRoutes(app, deps);
  registerCatalogRoutes(app, resources);
}

/** Answers what a load balancing endpoint's own server would: such endpoints are kept and shown, and their workers are not reached. */
export function registerLoadBalancerRoutes(app: FastifyInstance): void {
  app.all(`${loadBalancerRoot}/*`, async () => {
    throw new ServiceError(
      "unsupported",
      "load balancing endpoints are kept and shown; requests to their workers are not passed on",
    );
  });
}

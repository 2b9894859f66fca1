import {
  v2NetworkVolumeCreate,
  v2NetworkVolumePatch,
  v2RegistryCreate,
  v2TemplateCreate,
  v2TemplatePatch,
} from "serverless-compute-api/shapes";
import type { z } from "zod";
import { ServiceError } from "../errors";
import type { Resources } from "../resources";
import type { EndpointRow } from "../resources/endpoint-table";
import { withoutNulls } from "../resources/table";
import type { VolumeRow } from "../resources/volumes";
import { parseInput } from "../validation";
import { copiedTemplate, readEndpointCreate, readEndpointPatch } from "./rest-v2-endpoint-rules";
import { endpointContainer, endpointDefaults, endpointRecord, endpointValues } from "./rest-v2-endpoints";
import type { Pager } from "./rest-v2-pages";
import { secretsNoun } from "./rest-v2-secrets";
import { defaultDisk, templateRecord, templateValues } from "./rest-v2-templates";

/** Operations of one noun; each returns a response body. */
export interface Noun {
  /** Returns the body of a list. */
  list(query: unknown): object;
  get(id: string): unknown;
  create(body: unknown): unknown;
  /** Undefined if the API does not support updates. */
  update?(id: string, body: unknown): unknown;
  remove(id: string): void;
  /** Maximum size of a body, bytes. Defaults to the server's limit. */
  bodyLimit?: number;
}

/** A network volume as returned by REST v2. */
const volumeRecord = ({ id, name, size, dataCenterId, type }: VolumeRow) => ({
  id,
  name,
  size,
  dataCenter: dataCenterId,
  type,
});

/** Parses a body; an invalid body returns 422. */
const read = <Shape extends z.ZodType>(shape: Shape, body: unknown): z.output<Shape> =>
  parseInput(shape, body, "unprocessable");

/** Operations by path. */
export function nounsOf(deps: { resources: Resources; pager: Pager; serverlessUrl(): string }) {
  const { resources, pager, serverlessUrl } = deps;
  const { endpoints, endpointContainers, templates, volumes, registryAuths, secrets } = resources;
  const shown = (endpoint: EndpointRow) =>
    endpointRecord(endpoint, templates.get(endpoint.templateId), serverlessUrl());
  return {
    "/serverless": {
      list: (query) => {
        const { rows, pagination } = pager.page("/serverless", endpoints.newest, query);
        return { endpoints: rows.map(shown), pagination };
      },
      get: (id) => shown(endpoints.get(id)),
      create: (sent) => {
        const body = readEndpointCreate(sent);
        const template = body.templateId === undefined ? undefined : copiedTemplate(templates, body.templateId);
        const own = endpointContainer(body, template);
        const container = template ? own : { containerDiskInGb: defaultDisk, ...own };
        const type = body.type === "LOAD_BALANCER" ? "LB" : "QB";
        const values = { ...endpointDefaults, ...withoutNulls(endpointValues(body, undefined, template)), type };
        return shown(endpointContainers.create(values, container, body.templateId));
      },
      update: (id, sent) => {
        const endpoint = endpoints.get(id);
        const body = readEndpointPatch(sent, endpoint);
        const template = body.templateId === undefined ? undefined : copiedTemplate(templates, body.templateId);
        const container = endpointContainer(body, template ?? templates.get(endpoint.templateId));
        return shown(endpointContainers.update(id, endpointValues(body, endpoint), container, body.templateId));
      },
      // Running jobs do not prevent the deletion.
      remove: (id) => endpoints.remove(id, { needsScaleDown: false }),
    },
    "/templates": {
      list: (query) => {
        const { rows, pagination } = pager.page("/templates", templates.newest, query);
        return { templates: rows.map(templateRecord), pagination };
      },
      get: (id) => templateRecord(templates.get(id)),
      create: (sent) => {
        const defaults = { containerDiskInGb: defaultDisk, volumeInGb: 0, startSsh: true, startJupyter: true };
        const given = withoutNulls(templateValues(read(v2TemplateCreate, sent)));
        return templateRecord(templates.create({ ...defaults, ...given }));
      },
      update: (id, sent) => {
        const body = read(v2TemplatePatch, sent);
        return templateRecord(templates.update(id, templateValues(body, templates.get(id))));
      },
      remove: (id) => {
        try {
          templates.remove(id);
        } catch (error) {
          if (!(error instanceof ServiceError) || error.code !== "inUse") throw error;
          // Clients compare this exact text.
          const known = "Template is in use by a pod or serverless endpoint and cannot be deleted";
          throw new ServiceError("inUse", known, {}, [error.message]);
        }
      },
    },
    "/network-volumes": {
      list: () => ({ networkVolumes: volumes.list().map(volumeRecord) }),
      get: (id) => volumeRecord(volumes.get(id)),
      create: (sent) => {
        const { dataCenter, ...same } = read(v2NetworkVolumeCreate, sent);
        return volumeRecord(volumes.create({ ...same, dataCenterId: dataCenter }, "dataCenter"));
      },
      update: (id, sent) => volumeRecord(volumes.update(id, read(v2NetworkVolumePatch, sent))),
      remove: volumes.remove,
    },
    "/account/secrets": secretsNoun(secrets),
    "/registries": {
      list: () => ({ registries: registryAuths.list() }),
      get: registryAuths.get,
      create: (sent) => registryAuths.create(read(v2RegistryCreate, sent)),
      remove: registryAuths.remove,
    },
  } satisfies Record<string, Noun>;
}

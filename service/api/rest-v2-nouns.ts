import {
  v2NetworkVolumeCreate,
  v2NetworkVolumePatch,
  v2RegistryCreate,
  v2TemplateCreate,
  v2TemplatePatch,
} from "serverless-compute-api/shapes";
import type { Resources } from "../resources";
import type { EndpointRow } from "../resources/endpoint-table";
import { withoutNulls } from "../resources/table";
import type { VolumeRow } from "../resources/volumes";
import { parseV2 } from "../validation";
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

/** The operations of each kind of object, by path. */
export type Nouns = ReturnType<typeof nounsOf>;

/** Creates the operations of each kind of object, by path. `serverlessUrl` is the root of the job API without a trailing slash. */
export function nounsOf(deps: { resources: Resources; pager: Pager; serverlessUrl(): string }) {
  const { resources, pager, serverlessUrl } = deps;
  const { endpoints, endpointContainers, templates, volumes, registryAuths, secrets } = resources;
  const recordOf = (endpoint: EndpointRow) =>
    endpointRecord(endpoint, templates.get(endpoint.templateId), serverlessUrl());
  return {
    "/serverless": {
      list: (query) => {
        const { rows, pagination } = pager.page("/serverless", endpoints.newest, query);
        return { endpoints: rows.map(recordOf), pagination };
      },
      get: (id) => recordOf(endpoints.get(id)),
      create: (input) => {
        const body = readEndpointCreate(input);
        const template = body.templateId === undefined ? undefined : copiedTemplate(templates, body.templateId);
        const bodyContainer = endpointContainer(body, template);
        const container = template ? bodyContainer : { containerDiskInGb: defaultDisk, ...bodyContainer };
        const type = body.type === "LOAD_BALANCER" ? "LB" : "QB";
        const values = { ...endpointDefaults, ...withoutNulls(endpointValues(body, undefined, template)), type };
        return recordOf(endpointContainers.create(values, container, template));
      },
      update: (id, input) => {
        const endpoint = endpoints.get(id);
        const body = readEndpointPatch(input, endpoint);
        const template = body.templateId === undefined ? undefined : copiedTemplate(templates, body.templateId);
        const container = endpointContainer(body, template ?? templates.get(endpoint.templateId));
        return recordOf(endpointContainers.update(id, endpointValues(body, endpoint), container, template));
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
      create: (input) => {
        const defaults = { containerDiskInGb: defaultDisk, volumeInGb: 0, startSsh: true, startJupyter: true };
        const values = withoutNulls(templateValues(parseV2(v2TemplateCreate, input)));
        return templateRecord(templates.create({ ...defaults, ...values }));
      },
      update: (id, input) => {
        const body = parseV2(v2TemplatePatch, input);
        return templateRecord(templates.update(id, templateValues(body, templates.get(id))));
      },
      remove: templates.remove,
    },
    "/network-volumes": {
      list: (query) => {
        const { rows, pagination } = pager.page("/network-volumes", volumes.newest, query);
        return { networkVolumes: rows.map(volumeRecord), pagination };
      },
      get: (id) => volumeRecord(volumes.get(id)),
      create: (input) => {
        const { dataCenter, ...values } = parseV2(v2NetworkVolumeCreate, input);
        return volumeRecord(volumes.create({ ...values, dataCenterId: dataCenter }));
      },
      update: (id, input) => volumeRecord(volumes.update(id, parseV2(v2NetworkVolumePatch, input))),
      remove: volumes.remove,
    },
    "/account/secrets": secretsNoun(secrets, pager),
    "/registries": {
      list: (query) => {
        const { rows, pagination } = pager.page("/registries", registryAuths.newest, query);
        return { registries: rows, pagination };
      },
      get: registryAuths.get,
      create: (input) => registryAuths.create(parseV2(v2RegistryCreate, input)),
      remove: registryAuths.remove,
    },
  } satisfies Record<string, Noun>;
}

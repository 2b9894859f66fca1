import { z } from "zod";
import { pathSegment, requestInfo } from "../address";
import { invalidArgument, type RequestInfo } from "../errors";
import type { CallOptions, ManagementClient } from "../management";
import { newTemplateRetries } from "../retry";
import {
  containerOf,
  cpuSettingsOf,
  defaultCpu,
  type EndpointChanges,
  type EndpointCreate,
  type EndpointRecord,
  type EndpointSettings,
  limits,
  lowestCudaVersion,
  networkVolumeRecord,
  ownContainerIn,
  type ServerlessEndpointRecord,
  serverlessEndpointRecord,
  templateRecord,
  workerRecord,
} from "../shapes";
import type { Transport, TransportRequest } from "../transport";
import { gpuTypesIn, poolsContaining, poolsOf, selectPools } from "./gpu-pools";
import { createGraphqlManagement } from "./graphql";
import { createRestCalls, sharedRequest, templateNotFound } from "./rest-calls";
import { hasAny, hasIdleTimeout } from "./rest-v2-bodies";
import { markedCopy, unmarked } from "./template-mark";

/** The body of a create request, without null settings, and without GPU settings for CPU endpoints. */
function createBody({ gpuTypeIds, gpuCount, ...others }: EndpointCreate): object {
  const usesGpu = others.computeType !== "CPU" || (gpuTypeIds ?? []).length > 0;
  const { cpuFlavorIds = [], ...rest } = others;
  const body = {
    ...rest,
    ...(cpuFlavorIds.length > 0 ? { cpuFlavorIds } : {}),
    ...(usesGpu ? { gpuTypeIds, gpuCount } : {}),
  };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** The body of an update. REST v1 does not accept null; an empty string, a default or the lowest version clears a setting. */
const patchBody = (changes: EndpointChanges) => ({
  ...changes,
  vcpuCount: replaceNull(changes.vcpuCount, defaultCpu.vcpuCount),
  executionTimeoutMs: replaceNull(changes.executionTimeoutMs, limits.executionTimeout.default),
  networkVolumeId: replaceNull(changes.networkVolumeId, ""),
  minCudaVersion: replaceNull(changes.minCudaVersion, lowestCudaVersion),
});

/** Rejects container settings, which an endpoint of REST v1 has only in its template (interface: Endpoint). */
function requireTemplate(settings: EndpointChanges, request: RequestInfo): void {
  const [name] = Object.keys(ownContainerIn(settings));
  if (name === undefined) return;
  throw invalidArgument(`${name}: an endpoint of REST v1 has no container of its own; set it in its template`, request);
}

const replaceNull = <Value>(value: Value | null | undefined, replacement: Value): Value | undefined =>
  value === null ? replacement : value;

const endpointWithWorkers = z.lazy(() =>
  serverlessEndpointRecord.unwrap().extend({ workers: z.array(workerRecord).nullish() }),
);
const endpointWithTemplate = z.lazy(() =>
  serverlessEndpointRecord.unwrap().extend({ template: templateRecord.nullish() }),
);

/** Converts an endpoint created by REST v2, whose bound template is a copy with a variable that names the original template. */
function endpointFromTemplateRecord({ template, ...record }: z.output<typeof endpointWithTemplate>): EndpointRecord {
  const endpoint = endpointFrom(record);
  const { templateId, own, container } = template ? unmarked(containerOf(template)) : {};
  if (templateId === undefined) return endpoint;
  const copyId = endpoint.templateId;
  const idleTimeout = hasIdleTimeout(endpoint) ? endpoint.idleTimeout : undefined;
  return { ...endpoint, idleTimeout, templateId, own, container, copyId };
}

/**
 * The management operations through REST v1 (interface: REST management API), and through GraphQL if REST v1 has no path. `baseUrl`
 * includes the version prefix and has no trailing slash.
 */
export function createRestV1Management(
  transport: Transport,
  { baseUrl, graphqlUrl }: { baseUrl: string; graphqlUrl: string },
): ManagementClient {
  const { send, list, read, remove } = createRestCalls(transport);
  const graphql = createGraphqlManagement(transport, graphqlUrl);
  const endpoints = `${baseUrl}/endpoints`;
  const volumes = `${baseUrl}/networkvolumes`;

  const endpointUrl = (method: string, id: string) =>
    `${endpoints}/${pathSegment(id, "endpoint", { method, url: endpoints })}`;
  const volumeUrl = (method: string, id: string) =>
    `${volumes}/${pathSegment(id, "network volume", { method, url: volumes })}`;

  const pools = sharedRequest(async (options) => poolsOf(await graphql.listGpuTypes(options)));

  /** Converts changes to those of REST v1, which has lists of GPU types, but no pools. `settings` are the settings after the changes. */
  async function withoutPools<Changes extends EndpointChanges>(
    { gpuPools: _p, excludedGpuTypeIds: _e, ...changes }: Changes,
    settings: EndpointSettings,
    request: RequestInfo,
    options?: CallOptions,
  ) {
    const { gpuTypeIds, gpuPools = [], excludedGpuTypeIds = [] } = settings;
    if (gpuPools.length + excludedGpuTypeIds.length === 0) return { ...changes, gpuTypeIds };
    const catalog = await pools(options);
    return { ...changes, gpuTypeIds: gpuTypesIn(catalog, selectPools(catalog, settings, request)).gpuTypeIds };
  }

  /** Adds the settings of an endpoint's copied template. REST v1 may omit `dockerArgs`; GraphQL returns it. */
  async function withCopiedSettings(endpoint: EndpointRecord, options?: CallOptions): Promise<EndpointRecord> {
    const copy = endpoint.copyId === undefined ? undefined : await graphql.readTemplate(endpoint.copyId, options);
    if (!copy) return endpoint;
    const { own, container } = unmarked(containerOf(copy));
    return { ...endpoint, own, container };
  }

  const withPools = async (endpoint: EndpointRecord, options?: CallOptions): Promise<EndpointRecord> => {
    const catalog = await pools(options);
    return { ...endpoint, ...gpuTypesIn(catalog, poolsContaining(catalog, endpoint.gpuTypeIds)) };
  };

  return {
    ...graphql,

    async createEndpoint(settings, options) {
      const info = requestInfo({ method: "POST", url: endpoints });
      requireTemplate(settings, info);
      const request: TransportRequest = {
        method: "POST",
        url: endpoints,
        body: createBody(await withoutPools(settings, settings, info, options)),
        idempotent: false,
        visibilityRetries: newTemplateRetries,
      };
      return endpointFrom(await send(serverlessEndpointRecord, request, options));
    },
    async readEndpoint(id, options) {
      const record = await read(endpointWithTemplate, `${endpointUrl("GET", id)}?includeTemplate=true`, options);
      const endpoint = record && (await withCopiedSettings(endpointFromTemplateRecord(record), options));
      // REST v2 stores pools, so the order of the types is meaningless, and the types of all pools mean any type.
      return endpoint?.container && endpoint.gpuTypeIds.length > 0 ? withPools(endpoint, options) : endpoint;
    },
    withPools,
    readReleases: async () => undefined,
    listEndpoints: async (options) => (await list(serverlessEndpointRecord, endpoints, options)).map(endpointFrom),
    async listBoundEndpoints(template, options) {
      const records = await list(serverlessEndpointRecord, endpoints, options);
      return records.filter((endpoint) => endpoint.templateId === template.id).map(endpointFrom);
    },
    async listCopies(templateId, options) {
      const records = await list(endpointWithTemplate, `${endpoints}?includeTemplate=true`, options);
      const copies = records
        .map(endpointFromTemplateRecord)
        .filter((endpoint) => endpoint.container && endpoint.templateId === templateId);
      return Promise.all(copies.map((endpoint) => withCopiedSettings(endpoint, options)));
    },
    async updateCopy({ id, copyId, own }, templateId, options) {
      const template = await graphql.readTemplate(templateId, options);
      if (!template || copyId === undefined)
        throw templateNotFound(templateId, requestInfo({ method: "PATCH", url: endpointUrl("PATCH", id) }));
      await graphql.updateTemplate(copyId, markedCopy(template, own), options);
    },
    async updateEndpoint(id, changes, options) {
      const url = endpointUrl("PATCH", id);
      const info = requestInfo({ method: "PATCH", url });
      requireTemplate(changes, info);
      const visibilityRetries = changes.templateId === undefined ? undefined : newTemplateRetries;
      const body = patchBody(
        hasAny(changes, "gpuTypeIds", "gpuPools", "excludedGpuTypeIds")
          ? await withoutPools(changes, options?.settings ?? changes, info, options)
          : changes,
      );
      const request: TransportRequest = { method: "PATCH", url, body, idempotent: true, visibilityRetries };
      return endpointFrom(await send(serverlessEndpointRecord, request, options));
    },
    templateChange: (id, templateId) => ({ url: endpointUrl("PATCH", id), body: { templateId } }),
    async readWorkers(id, options) {
      const url = `${endpointUrl("GET", id)}?includeWorkers=true`;
      const { version, workers } = await send(endpointWithWorkers, { method: "GET", url, idempotent: true }, options);
      return { version: version ?? undefined, workers: workers ?? [] };
    },
    async deleteEndpoint(id, options) {
      return remove(endpointUrl("DELETE", id), options);
    },

    createNetworkVolume: (settings, options) =>
      send(networkVolumeRecord, { method: "POST", url: volumes, body: settings, idempotent: false }, options),
    async readNetworkVolume(id, options) {
      return read(networkVolumeRecord, volumeUrl("GET", id), options);
    },
    listNetworkVolumes: (options) => list(networkVolumeRecord, volumes, options),
    async updateNetworkVolume(id, changes, options) {
      const url = volumeUrl("PATCH", id);
      return send(networkVolumeRecord, { method: "PATCH", url, body: changes, idempotent: true }, options);
    },
    async deleteNetworkVolume(id, options) {
      return remove(volumeUrl("DELETE", id), options);
    },
  };
}

/** Settings that may have no value, so that a record without them does not show whether they are set. */
const clearable = [
  ...(["gpuTypeIds", "cpuFlavorIds", "vcpuCount", "dataCenterIds", "allowedCudaVersions"] as const),
  ...(["minCudaVersion", "networkVolumeId", "networkVolumeIds", "executionTimeoutMs"] as const),
];

/** CPU flavours and virtual CPUs of instance ids such as `cpu3c-8-16`, in the same order. */
const instancesOf = (instanceIds: readonly string[]): Pick<ServerlessEndpointRecord, "cpuFlavorIds" | "vcpuCount"> =>
  cpuSettingsOf(
    instanceIds.map((instance) => {
      const [id = "", count] = instance.split("-");
      return { id, vcpuCount: count === undefined ? undefined : Number(count) };
    }),
  );

/** Converts an endpoint of REST v1. The hosted service returns `instanceIds` instead of `cpuFlavorIds` and `vcpuCount`. */
export function endpointFrom({ instanceIds, ...fields }: ServerlessEndpointRecord): EndpointRecord {
  const hasInstances = instanceIds && instanceIds.length > 0 && !fields.cpuFlavorIds;
  const record = hasInstances ? { ...fields, ...instancesOf(instanceIds) } : fields;
  return {
    ...record,
    gpuTypeIds: record.gpuTypeIds ?? [],
    cpuFlavorIds: record.cpuFlavorIds ?? [],
    dataCenterIds: record.dataCenterIds ?? [],
    allowedCudaVersions: record.allowedCudaVersions ?? [],
    networkVolumeIds: record.networkVolumeIds ?? [],
    unknownKeys: [
      ...clearable.filter((key) => !(key in record)),
      // REST v1 returns a number of GPUs of endpoints without GPUs.
      ...(record.computeType === "CPU" ? (["gpuCount"] as const) : []),
    ],
  };
}

import { z } from "zod";
import { requestInfo } from "../address";
import { invalidArgument, type RequestInfo } from "../errors";
import type { CallOptions, ManagementClient } from "../management";
import { newTemplateRetries } from "../retry";
import {
  cpuSettingsOf,
  defaultCpu,
  type EndpointChanges,
  type EndpointRecord,
  type EndpointSettings,
  limits,
  lowestCudaVersion,
  networkVolumeRecord,
  ownContainerIn,
  type ServerlessEndpointRecord,
  serverlessEndpointRecord,
  workerRecord,
} from "../shapes";
import type { Transport, TransportRequest } from "../transport";
import { gpuTypesIn, type Pools, poolsContaining, poolsOf, selectPools } from "./gpu-pools";
import { createGraphqlManagement } from "./graphql";
import { collection, createRestCalls, sharedRequest } from "./rest-calls";
import { hasAny } from "./rest-v2-bodies";

/** The body of a create request, without null settings, and without GPU settings for CPU endpoints. */
function createBody({ gpuTypeIds, gpuCount, ...others }: EndpointSettings): object {
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

/** Changes with a list of GPU types instead of pools, which REST v1 does not have. `settings` are the settings after the changes. */
function withoutPools<Changes extends EndpointChanges>(
  { gpuPools: _p, excludedGpuTypeIds: _e, ...changes }: Changes,
  settings: EndpointSettings,
  catalog: Pools | undefined,
  request: RequestInfo,
) {
  const { gpuTypeIds } = catalog ? gpuTypesIn(catalog, selectPools(catalog, settings, request)) : settings;
  return { ...changes, gpuTypeIds };
}

const showsGpuTypes = ({ unknownKeys = [] }: EndpointRecord): boolean => !unknownKeys.includes("gpuTypeIds");

/** An endpoint with the pools that contain its GPU types, if the service shows these. */
const withPools = (endpoint: EndpointRecord, catalog: Pools): EndpointRecord =>
  showsGpuTypes(endpoint)
    ? { ...endpoint, ...gpuTypesIn(catalog, poolsContaining(catalog, endpoint.gpuTypeIds)) }
    : endpoint;

const replaceNull = <Value>(value: Value | null | undefined, replacement: Value): Value | undefined =>
  value === null ? replacement : value;

const endpointWithWorkers = z.lazy(() =>
  serverlessEndpointRecord.unwrap().extend({ workers: z.array(workerRecord).nullish() }),
);

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
  const endpoints = collection(baseUrl, "endpoints", "endpoint");
  const volumes = collection(baseUrl, "networkvolumes", "network volume");

  const pools = sharedRequest({ method: "POST", url: graphqlUrl, operation: "gpuTypes" }, async (options) =>
    poolsOf(await graphql.listGpuTypes(options)),
  );

  /** The pools of the catalog; undefined if the settings select no pools. */
  const poolsFor = async ({ gpuPools = [], excludedGpuTypeIds = [] }: EndpointSettings, options?: CallOptions) =>
    gpuPools.length + excludedGpuTypeIds.length === 0 ? undefined : pools(options);

  return {
    ...graphql,

    async createEndpoint(settings, options) {
      const info = requestInfo({ method: "POST", url: endpoints.url });
      requireTemplate(settings, info);
      const catalog = await poolsFor(settings, options);
      const request: TransportRequest = {
        method: "POST",
        url: endpoints.url,
        body: createBody(withoutPools(settings, settings, catalog, info)),
        idempotent: false,
        visibilityRetries: newTemplateRetries,
      };
      return endpointFrom(await send(serverlessEndpointRecord, request, options), catalog);
    },
    async readEndpoint(id, options) {
      const record = await read(serverlessEndpointRecord, endpoints.of("GET", id), options);
      return record && endpointFrom(record);
    },
    withPools: async (endpoint, options) =>
      showsGpuTypes(endpoint) ? withPools(endpoint, await pools(options)) : endpoint,
    readReleases: async () => undefined,
    listEndpoints: async (options) =>
      (await list(serverlessEndpointRecord, endpoints.url, options)).map((record) => endpointFrom(record)),
    async updateEndpoint(id, changes, options) {
      const url = endpoints.of("PATCH", id);
      const info = requestInfo({ method: "PATCH", url });
      requireTemplate(changes, info);
      const visibilityRetries = changes.templateId === undefined ? undefined : newTemplateRetries;
      const settings = options?.settings ?? changes;
      const changesGpuTypes = hasAny(changes, "gpuTypeIds", "gpuPools", "excludedGpuTypeIds");
      const catalog = changesGpuTypes ? await poolsFor(settings, options) : undefined;
      const body = patchBody(changesGpuTypes ? withoutPools(changes, settings, catalog, info) : changes);
      const request: TransportRequest = { method: "PATCH", url, body, idempotent: true, visibilityRetries };
      return endpointFrom(await send(serverlessEndpointRecord, request, options), catalog);
    },
    async readWorkers(id, options) {
      const url = `${endpoints.of("GET", id)}?includeWorkers=true`;
      const { version, workers } = await send(endpointWithWorkers, { method: "GET", url, idempotent: true }, options);
      return { version: version ?? undefined, workers: workers ?? [] };
    },
    async deleteEndpoint(id, options) {
      return remove(endpoints.of("DELETE", id), options);
    },

    createNetworkVolume: (settings, options) =>
      send(networkVolumeRecord, { method: "POST", url: volumes.url, body: settings, idempotent: false }, options),
    async readNetworkVolume(id, options) {
      return read(networkVolumeRecord, volumes.of("GET", id), options);
    },
    listNetworkVolumes: (options) => list(networkVolumeRecord, volumes.url, options),
    async updateNetworkVolume(id, changes, options) {
      const url = volumes.of("PATCH", id);
      return send(networkVolumeRecord, { method: "PATCH", url, body: changes, idempotent: true }, options);
    },
    async deleteNetworkVolume(id, options) {
      return remove(volumes.of("DELETE", id), options);
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

/**
 * Converts an endpoint of REST v1; without a catalog, its pools are unknown. The hosted service returns `instanceIds` instead of
 * `cpuFlavorIds` and `vcpuCount`.
 */
export function endpointFrom({ instanceIds, ...fields }: ServerlessEndpointRecord, catalog?: Pools): EndpointRecord {
  const hasInstances = instanceIds && instanceIds.length > 0 && !fields.cpuFlavorIds;
  const record = hasInstances ? { ...fields, ...instancesOf(instanceIds) } : fields;
  const endpoint: EndpointRecord = {
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
  return catalog ? withPools(endpoint, catalog) : endpoint;
}

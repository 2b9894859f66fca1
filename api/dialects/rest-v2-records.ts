import type { GpuStockRecord, GpuTypeRecord } from "../management";
import {
  containerOf,
  cpuSettingsOf,
  type EndpointRecord,
  endpointDefaults,
  fromV2Names,
  plainEndpointFields,
  startArgumentsOf,
  unmarked,
  type V2EndpointRecord,
  type V2GpuRecord,
} from "../shapes";
import { gpuTypesIn, type Pools } from "./gpu-pools";
import { hasIdleTimeout } from "./rest-v2-bodies";

export const gpuTypeFrom = ({ id, name, pool, manufacturer, memory, price }: V2GpuRecord): GpuTypeRecord => ({
  id,
  name: name ?? id,
  pool,
  manufacturer,
  memoryInGb: memory,
  price: price?.serverless,
});

/** Converts the stock of a GPU type. The list of data centres is absent without stock. */
export function gpuStockFrom({ id, pool, availability, dataCenters }: V2GpuRecord): GpuStockRecord {
  if (availability === "NONE") return { id, pool, dataCenterIds: [] };
  return {
    id,
    pool,
    dataCenterIds: dataCenters?.flatMap((dataCenter) => (dataCenter.availability === "NONE" ? [] : dataCenter.id)),
  };
}

const gpuSelection = ["gpuTypeIds", "gpuPools", "excludedGpuTypeIds"] as const;
const gpuSettings = ["gpuCount", "allowedCudaVersions", "minCudaVersion"] as const;
const cpuSettings = ["cpuFlavorIds", "vcpuCount"] as const;

/** Converts an endpoint; without `pools`, the GPU types are unknown. */
export function endpointFrom(record: V2EndpointRecord, pools: Pools | undefined): EndpointRecord {
  const { gpu, cpu, workers, scaling, networkVolumes, flashboot, requestUrls, type } = record;
  const { templateId, own, container } = unmarked(containerOf({ ...record, dockerArgs: startArgumentsOf(record) }));
  // The contract does not require the container's fields.
  const isContainerShown = record.imageName !== "";
  const scalerValue = scaling?.type === "REQUEST_COUNT" ? scaling.requestCount : scaling?.queueDelay;
  return {
    ...fromV2Names<unknown>(plainEndpointFields, record),
    id: record.id,
    name: record.name,
    createdAt: record.createdAt,
    templateId,
    container: isContainerShown ? container : undefined,
    own,
    computeType: gpu ? "GPU" : cpu ? "CPU" : undefined,
    ...(gpu && pools ? gpuTypesIn(pools, gpu) : { gpuTypeIds: [] }),
    gpuCount: gpu?.count,
    ...cpuSettingsOf(cpu ?? []),
    dataCenterIds: record.dataCenterIds,
    allowedCudaVersions: gpu?.allowedCudaVersions ?? [],
    minCudaVersion: gpu?.minCudaVersion || undefined,
    ...(networkVolumes.length === 1
      ? { networkVolumeId: networkVolumes[0], networkVolumeIds: [] }
      : { networkVolumeIds: networkVolumes }),
    // A queue that has no idle timeout counts as one with the default, which programs may set.
    idleTimeout: hasIdleTimeout({ type, scalerType: scaling?.type })
      ? workers?.idleTimeout
      : endpointDefaults.idleTimeout,
    // 0 means no timeout (migration notes of 18 August 2026).
    executionTimeoutMs: record.timeout || undefined,
    flashboot: flashboot === undefined ? undefined : flashboot !== "OFF",
    flashbootType: flashboot,
    scalerType: scaling?.type,
    scalerValue,
    workersMin: workers?.min,
    workersMax: workers?.max,
    type,
    // Only a load balancer has a base address; the contract does not require the type.
    requestUrl: type === "QUEUE" ? undefined : requestUrls?.["base"],
    unknownKeys: [
      ...(gpu && pools ? [] : gpuSelection),
      ...(gpu ? [] : gpuSettings),
      ...(cpu ? [] : cpuSettings),
      ...(templateId === undefined && !isContainerShown ? (["templateId"] as const) : []),
    ],
  };
}

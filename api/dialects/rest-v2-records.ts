import type { ContainerSettings, EndpointRecord, GpuTypeRecord, NetworkVolumeRecord, TemplateRecord } from "../objects";
import {
  cpuSettingsOf,
  type V2EndpointRecord,
  type V2GpuRecord,
  type V2NetworkVolumeRecord,
  type V2TemplateRecord,
} from "../shapes";
import { gpuTypesIn, type Pools } from "./gpu-pools";
import { hasIdleTimeout, usual } from "./rest-v2-bodies";
import { unmarked } from "./template-mark";

/** The JSON form of start arguments that a record shows as lists only. */
const startTextOf = ({ entrypoint, cmd }: V2EndpointRecord | V2TemplateRecord): string =>
  entrypoint.length + cmd.length === 0 ? "" : JSON.stringify({ entrypoint, cmd });

/** Returns the container settings of an endpoint or a template. */
const containerOf = (record: V2EndpointRecord | V2TemplateRecord): ContainerSettings => ({
  imageName: record.image ?? "",
  containerDiskInGb: record.disk ?? 0,
  dockerArgs: record.args || startTextOf(record),
  env: record.env ?? {},
  ports: record.ports.join(","),
  containerRegistryAuthId: record.registry || null,
});

/** A template. REST v2 has no place for free text, and for a mount path only beside a volume. */
export function templateFrom(record: V2TemplateRecord): TemplateRecord {
  const { id, name, mounts, startSsh, startJupyter, allowedCudaVersions, serverless } = record;
  const { containerRegistryAuthId, env, ...container } = containerOf(record);
  const volume = mounts?.persistent;
  return {
    ...{ id, name, ...container, env: { ...env } },
    containerRegistryAuthId: containerRegistryAuthId ?? undefined,
    volumeInGb: volume?.size ?? 0,
    volumeMountPath: volume?.path ?? "",
    readme: "",
    isServerless: serverless ?? false,
    ...{ startSsh, startJupyter, allowedCudaVersions, isPublic: record.public, category: record.category },
    unshown: volume?.path ? ["readme"] : ["readme", "volumeMountPath"],
  };
}

export const volumeFrom = ({ id, name, size, dataCenter, type }: V2NetworkVolumeRecord): NetworkVolumeRecord => ({
  ...{ id, name, size, dataCenterId: dataCenter, type },
});

export const gpuTypeFrom = ({ id, name, pool, manufacturer, memory, price }: V2GpuRecord): GpuTypeRecord => ({
  ...{ id, name: name ?? id, pool, manufacturer },
  memoryInGb: memory,
  price: price?.serverless,
});

const gpuSettings = ["gpuTypeIds", "excludedGpuTypeIds", "gpuCount", "allowedCudaVersions", "minCudaVersion"] as const;
const cpuSettings = ["cpuFlavorIds", "vcpuCount"] as const;

/** An endpoint; `pools` are asked for where it has GPUs. */
export function endpointFrom(record: V2EndpointRecord, pools: Pools | undefined): EndpointRecord {
  const { gpu, cpu, workers, scaling, networkVolumes, flashboot, requestUrls, type } = record;
  const queue = scaling?.type === "REQUEST_COUNT" ? scaling.requestCount : scaling?.queueDelay;
  return {
    ...{ id: record.id, name: record.name, createdAt: record.createdAt },
    ...unmarked(containerOf(record)),
    computeType: gpu ? "GPU" : cpu ? "CPU" : undefined,
    ...(gpu && pools ? gpuTypesIn(pools, gpu) : { gpuTypeIds: [] }),
    gpuCount: gpu?.count,
    ...cpuSettingsOf(cpu ?? []),
    usualCpuFlavorId: usual.cpuFlavorId,
    dataCenterIds: record.dataCenterIds,
    allowedCudaVersions: gpu?.allowedCudaVersions ?? [],
    minCudaVersion: gpu?.minCudaVersion || undefined,
    ...(networkVolumes.length === 1
      ? { networkVolumeId: networkVolumes[0], networkVolumeIds: [] }
      : { networkVolumeIds: networkVolumes }),
    idleTimeout: hasIdleTimeout({ type, scalerType: scaling?.type }) ? workers?.idleTimeout : undefined,
    // 0 stands for none (migration notes of 18 August 2026).
    executionTimeoutMs: record.timeout || undefined,
    flashboot: flashboot === undefined ? undefined : flashboot !== "OFF",
    flashbootType: flashboot,
    scalerType: scaling?.type,
    scalerValue: queue,
    workersMin: workers?.min,
    workersMax: workers?.max,
    type,
    requestUrl: type === "LOAD_BALANCER" ? requestUrls?.["base"] : undefined,
    unshown: [...(gpu ? [] : gpuSettings), ...(cpu ? [] : cpuSettings)],
  };
}

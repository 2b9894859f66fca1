import type { EndpointRecord } from "../objects";
import { cpuSettingsOf, type ServerlessEndpointRecord } from "../shapes";
import { usual } from "./rest-v2-bodies";

/** Settings that may have no value, so that a record without them does not tell whether they are set. */
const clearable = [
  ...(["gpuTypeIds", "cpuFlavorIds", "vcpuCount", "dataCenterIds", "allowedCudaVersions"] as const),
  ...(["minCudaVersion", "networkVolumeId", "networkVolumeIds", "executionTimeoutMs"] as const),
];

/** CPU flavours and virtual CPUs of instance ids such as `cpu3c-8-16`, in their order. */
const instancesOf = (instanceIds: readonly string[]): Pick<ServerlessEndpointRecord, "cpuFlavorIds" | "vcpuCount"> =>
  cpuSettingsOf(
    instanceIds.map((instance) => {
      const [id = "", count] = instance.split("-");
      return { id, vcpuCount: count === undefined ? undefined : Number(count) };
    }),
  );

/** An endpoint of REST v1. Records of the hosted service show `instanceIds` instead of `cpuFlavorIds` and `vcpuCount`. */
export function endpointFrom(shown: ServerlessEndpointRecord): EndpointRecord {
  const { instanceIds } = shown;
  const record =
    instanceIds && instanceIds.length > 0 && !shown.cpuFlavorIds ? { ...shown, ...instancesOf(instanceIds) } : shown;
  const { id, name, templateId, version, createdAt } = record;
  return {
    ...{ id, name, templateId, version: version ?? undefined, createdAt },
    computeType: record.computeType ?? undefined,
    gpuTypeIds: record.gpuTypeIds ?? [],
    gpuCount: record.gpuCount ?? undefined,
    cpuFlavorIds: record.cpuFlavorIds ?? [],
    usualCpuFlavorId: usual.cpuFlavorId,
    vcpuCount: record.vcpuCount ?? undefined,
    dataCenterIds: record.dataCenterIds ?? [],
    allowedCudaVersions: record.allowedCudaVersions ?? [],
    minCudaVersion: record.minCudaVersion ?? undefined,
    networkVolumeId: record.networkVolumeId ?? undefined,
    networkVolumeIds: record.networkVolumeIds ?? [],
    idleTimeout: record.idleTimeout ?? undefined,
    executionTimeoutMs: record.executionTimeoutMs ?? undefined,
    flashboot: record.flashboot ?? undefined,
    scalerType: record.scalerType ?? undefined,
    scalerValue: record.scalerValue ?? undefined,
    workersMin: record.workersMin ?? undefined,
    workersMax: record.workersMax ?? undefined,
    unshown: clearable.filter((key) => record[key] === undefined),
  };
}

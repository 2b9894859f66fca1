import { cpuSettingsOf, type EndpointRecord, type ServerlessEndpointRecord } from "../shapes";

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

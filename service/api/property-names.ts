import { namesInV2, networkVolumeFields, templateFields } from "serverless-compute-api/shapes";
import type { NameOf, ObjectKind } from "../errors";

/** Names of the properties that an API names differently from the resources, by kind of object; a dot separates nested properties. */
type NameTable = Partial<Record<ObjectKind, Record<string, string>>>;

/** The names in REST v1, from which most names of the resources are taken. */
const inRestV1: NameTable = {
  template: { dockerArgs: "dockerStartCmd" },
  endpoint: { instanceIds: "cpuFlavorIds" },
};

const inRestV2: NameTable = {
  template: {
    ...Object.fromEntries(namesInV2(templateFields)),
    dockerEntrypoint: "entrypoint",
    volumeInGb: "mounts.persistent.size",
    volumeMountPath: "mounts.persistent.path",
  },
  endpoint: {
    gpuTypeIds: "gpu.pools",
    gpuIds: "gpu.pools",
    gpuCount: "gpu.count",
    allowedCudaVersions: "gpu.allowedCudaVersions",
    minCudaVersion: "gpu.minCudaVersion",
    cpuFlavorIds: "cpu",
    vcpuCount: "cpu",
    instanceIds: "cpu",
    networkVolumeId: "networkVolumes",
    networkVolumeIds: "networkVolumes",
    workersMin: "workers.min",
    workersMax: "workers.max",
    idleTimeout: "workers.idleTimeout",
    executionTimeoutMs: "timeout",
    scalerType: "scaling.type",
    scalerValue: "scaling",
    flashbootPriority: "flashboot",
  },
  volume: Object.fromEntries(namesInV2(networkVolumeFields)),
};

const inGraphql: NameTable = {
  endpoint: {
    gpuTypeIds: "gpuIds",
    cpuFlavorIds: "instanceIds",
    dataCenterIds: "locations",
    flashboot: "flashBootType",
    flashbootPriority: "flashBootType",
  },
};

const nameIn =
  (table: NameTable): NameOf =>
  ([property = "", ...rest], of) => {
    const names = of && table[of];
    return [names?.[String(property)] ?? property, ...rest].map(String).join(".");
  };

/** The name of a property in REST v1. */
export const nameInRestV1 = nameIn(inRestV1);

/** The name of a property in REST v2. */
export const nameInRestV2 = nameIn(inRestV2);

/** The name of a property in GraphQL. */
export const nameInGraphql = nameIn(inGraphql);

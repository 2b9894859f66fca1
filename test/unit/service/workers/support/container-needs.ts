import type { ContainerNeeds } from "../../../../../service/resources/endpoint-lookup";

/** A container without GPUs, limits, volume and credentials. */
export const plainNeeds: ContainerNeeds = {
  entrypoint: [],
  registryAuth: undefined,
  volumeId: undefined,
  volumeSizeInGb: 0,
  gpuTypeIds: [],
  dataCenterIds: [],
  mountPaths: [],
  cpu: undefined,
  diskInGb: 5,
  gpus: 0,
};

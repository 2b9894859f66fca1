import type { ContainerSettings, WorkerRecord } from "./shapes";

/** Settings of an endpoint, independent of the dialect. Null and an empty list mean none. */
export interface EndpointSettings {
  name: string;
  templateId: string;
  computeType: "GPU" | "CPU";
  gpuTypeIds: readonly string[];
  gpuCount: number;
  cpuFlavorIds: readonly string[];
  vcpuCount: number | null;
  dataCenterIds: readonly string[];
  allowedCudaVersions: readonly string[];
  minCudaVersion: string | null;
  networkVolumeId: string | null;
  networkVolumeIds: readonly string[];
  /** Seconds. */
  idleTimeout: number;
  /** Milliseconds. */
  executionTimeoutMs: number | null;
  flashboot: boolean;
  scalerType: "QUEUE_DELAY" | "REQUEST_COUNT";
  /** Seconds of QUEUE_DELAY, jobs of REQUEST_COUNT. */
  scalerValue: number;
  workersMin: number;
  workersMax: number;
  /** These three only v2 carries; the type never changes. */
  type?: "QUEUE" | "LOAD_BALANCER" | undefined;
  excludedGpuTypeIds?: readonly string[] | undefined;
  /** Instead of `flashboot`. */
  flashbootType?: "OFF" | "FLASHBOOT" | "PRIORITY_FLASHBOOT" | undefined;
}
/** A new endpoint; absent settings get the service's default. */
export type EndpointCreate = Pick<EndpointSettings, "templateId"> & Partial<Omit<EndpointSettings, "templateId">>;
/** Changes of an endpoint; absent settings stay unchanged. */
export type EndpointChanges = Partial<Omit<EndpointSettings, "computeType" | "type">>;

/** An endpoint as either dialect returns it; lists are empty where it has none. */
export interface EndpointRecord {
  id: string;
  name: string;
  /** The template that it is bound to, or whose copy it has; undefined where the service does not say. */
  templateId?: string | undefined;
  /** Container settings of its workers, if they are a copy of the template's settings. */
  container?: ContainerSettings | undefined;
  /** Id of the template that is the copy, in a dialect that shows it. */
  copyId?: string | undefined;
  computeType?: string | undefined;
  gpuTypeIds: string[];
  /** True if any GPU type but the excluded ones may serve it. Undefined if `gpuTypeIds` is a list in priority order. */
  anyGpuType?: boolean | undefined;
  excludedGpuTypeIds?: string[] | undefined;
  gpuCount?: number | undefined;
  cpuFlavorIds: string[];
  /** The flavour that stands for none, in a dialect that always needs one. */
  usualCpuFlavorId?: string | undefined;
  vcpuCount?: number | undefined;
  dataCenterIds: string[];
  allowedCudaVersions: string[];
  minCudaVersion?: string | undefined;
  networkVolumeId?: string | undefined;
  networkVolumeIds: string[];
  idleTimeout?: number | undefined;
  executionTimeoutMs?: number | undefined;
  flashboot?: boolean | undefined;
  flashbootType?: string | undefined;
  scalerType?: string | undefined;
  scalerValue?: number | undefined;
  workersMin?: number | undefined;
  workersMax?: number | undefined;
  type?: string | undefined;
  /** Address that takes its requests, where that is not the job API. */
  requestUrl?: string | undefined;
  version?: number | undefined;
  createdAt?: string | undefined;
  /** Settings that the dialect does not support; their values are meaningless. */
  unshown?: readonly (keyof EndpointSettings)[] | undefined;
}

/** Workers of an endpoint, as far as the service reports them. */
export interface EndpointWorkers {
  /** Version of new workers; undefined if the service does not report it. */
  version: number | undefined;
  workers: readonly WorkerRecord[];
}

/** Settings of a volume. */
export interface NetworkVolumeSettings {
  name: string;
  /** GB. */
  size: number;
  dataCenterId: string;
  /** Only v2 carries it. */
  type?: "STANDARD" | "HIGH_PERFORMANCE" | undefined;
}
export interface NetworkVolumeRecord extends Omit<NetworkVolumeSettings, "type"> {
  id: string;
  type?: string | undefined;
  createdAt?: string | undefined;
}

/** A GPU type that the service has. */
export interface GpuTypeRecord {
  id: string;
  name: string;
  memoryInGb?: number | undefined;
  manufacturer?: string | undefined;
  /** Pool of serverless endpoints that has it; undefined where none does. */
  pool?: string | undefined;
  /** Price in US dollars per hour, if the service reports one. */
  price?: number | undefined;
}

/** A data centre of the service. */
export interface DataCenterRecord {
  id: string;
  name: string;
  region?: string | undefined;
}

import type { WorkerRecord } from "./shapes";

/** Workers of an endpoint, as far as the service reports them. */
export interface EndpointWorkers {
  /** Version of new workers; undefined if the service does not report it. */
  version: number | undefined;
  workers: readonly WorkerRecord[];
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

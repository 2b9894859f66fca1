import { z } from "zod";
import { cpuFlavorIds, dataCenterIds, gpuPools, gpuTypeIds } from "../catalog";
import type { ContainerSettings, OwnContainer } from "./container";
import { defaultCpu } from "./cpu-flavors";
import { limits } from "./limits";
import { propertyOptions } from "./property-options";
import {
  isoTimestamp,
  objectId,
  optionalObjectId,
  orUndefined,
  recordId,
  recordShapes,
  type Values,
  withDefaults,
} from "./record-values";
import { rule } from "./rule";

/** Form of a CUDA version in REST v2 (contract: GpuCreate, TemplateCreate). */
export const cudaVersionPattern = /^\d+\.\d+$/;

/** Lowest CUDA version that REST v1 describes. It means any version, because its description allows no empty minimum. */
export const lowestCudaVersion = "11.8";

/** Form of the id of a GPU type in REST v2 (contract: GpuCreate). */
export const gpuTypePattern = /^\s*[^-\s]/;

/** Removes the suffix that the service may add to the name of an endpoint that starts from a saved state. */
export const bareName = (name: string): string => name.replace(/( ?-fb)+$/, "");

const gpuTypes = { noun: "GPU type", ids: gpuTypeIds, pools: gpuPools };
const restartsWorkers = { warns: "active workers may restart" };

/**
 * The properties of an endpoint. Inputs, records, settings and the bodies of REST v1 use the same names, unless an option or a shape below
 * states a difference.
 */
export const endpointFields = {
  name: z
    .string()
    .min(1)
    .max(limits.nameLength)
    .describe("Name of the endpoint; does not have to be unique.")
    .register(propertyOptions, { canonical: bareName }),
  templateId: objectId
    .describe(
      "Id of the template of the workers. Required if imageName is not set. With both, the endpoint's container settings override the template's.",
    )
    .register(propertyOptions, { determinedBy: "imageName" }),
  computeType: z
    .enum(["GPU", "CPU"])
    .describe("Hardware of the workers.")
    .register(propertyOptions, { replaceOnChanges: true }),
  gpuTypeIds: z
    .array(z.string().min(1))
    .describe(
      'GPU types, for example "NVIDIA L4"; any type if empty. REST v1 uses the first available type; REST v2 ignores the order.',
    )
    .register(propertyOptions, { unordered: "v2", catalog: gpuTypes, ...restartsWorkers }),
  gpuCount: z
    .int()
    .min(1)
    .max(limits.number)
    .describe("Number of GPUs per worker.")
    .register(propertyOptions, { v2: "gpu.count", ...restartsWorkers }),
  cpuFlavorIds: z
    .array(z.string().min(1))
    .describe(
      'CPU flavours in priority order, for example "cpu3c". REST v2 also accepts a flavour with its number of virtual CPUs, for example "cpu5c-8".',
    )
    .register(propertyOptions, {
      catalog: { noun: "CPU flavour", ids: cpuFlavorIds },
      serviceDefault: [defaultCpu.flavorId],
    }),
  vcpuCount: z
    .int()
    .min(1)
    .max(limits.number)
    .describe("Number of virtual CPUs per worker, for flavours without a number.")
    .register(propertyOptions, { serviceDefault: defaultCpu.vcpuCount }),
  dataCenterIds: z
    .array(z.string().min(1))
    .describe("Allowed data centres of the workers; any if empty.")
    .register(propertyOptions, { unordered: true, catalog: { noun: "data centre", ids: dataCenterIds } }),
  allowedCudaVersions: z
    .array(z.string().min(1))
    .describe("Allowed CUDA versions of the workers; any if empty.")
    .register(propertyOptions, { v2: "gpu.allowedCudaVersions", unordered: true }),
  minCudaVersion: z
    .string()
    .describe("Minimum CUDA version of the workers.")
    .register(propertyOptions, { v2: "gpu.minCudaVersion", serviceDefault: lowestCudaVersion }),
  networkVolumeId: optionalObjectId
    .describe("Id of the network volume mounted by the workers.")
    .register(propertyOptions, { v2: "networkVolumes", alternativeTo: "networkVolumeIds" }),
  networkVolumeIds: z
    .array(objectId)
    .describe("Ids of network volumes in several data centres.")
    .register(propertyOptions, { v2: "networkVolumes", unordered: true }),
  idleTimeout: z
    .int()
    .min(1)
    .max(3600)
    .describe(
      "Seconds after which an idle worker stops. With REST v2, omit it for a queue with scalerType REQUEST_COUNT.",
    )
    .register(propertyOptions, { v2: "workers.idleTimeout" }),
  executionTimeoutMs: z
    .int()
    .min(limits.executionTimeout.min)
    .max(limits.executionTimeout.max)
    .describe("Execution timeout of jobs in milliseconds; the policy of a job overrides it.")
    .register(propertyOptions, { v2: "timeout", serviceDefault: limits.executionTimeout.default }),
  flashboot: z.boolean().describe("True to start workers from a saved state."),
  scalerType: z
    .enum(["QUEUE_DELAY", "REQUEST_COUNT"])
    .describe(
      "Criterion for adding workers: waiting time or number of jobs. Must be REQUEST_COUNT, which is then the default, if type is LOAD_BALANCER.",
    )
    .register(propertyOptions, {
      v2: "scaling.type",
      defaultBy: { property: "type", defaults: { LOAD_BALANCER: "REQUEST_COUNT" } },
    }),
  scalerValue: z
    .int()
    .min(1)
    .max(limits.number)
    .describe("Seconds of waiting (QUEUE_DELAY) or jobs per worker (REQUEST_COUNT)."),
  workersMin: z
    .int()
    .min(0)
    .max(limits.number)
    .describe("Minimum number of workers, which always run.")
    .register(propertyOptions, { v2: "workers.min", ...restartsWorkers }),
  workersMax: z
    .int()
    .min(0)
    .max(limits.number)
    .describe("Maximum number of workers.")
    .register(propertyOptions, { v2: "workers.max", ...restartsWorkers }),
  type: z
    .enum(["QUEUE", "LOAD_BALANCER"])
    .describe("Delivery of requests to workers: as jobs of a queue (the default), or directly. REST v2 only.")
    .register(propertyOptions, { replaceOnChanges: true, dialect: "v2", serviceDefault: "QUEUE" }),
  excludedGpuTypeIds: z
    .array(z.string().min(1))
    .describe("Excluded GPU types, of gpuPools or of all pools. Cannot be combined with gpuTypeIds.")
    .register(propertyOptions, { v2: "gpu.excludedTypes", unordered: true, catalog: gpuTypes, ...restartsWorkers }),
  gpuPools: z
    .array(z.string().min(1))
    .describe(
      'Pools of GPU types, for example "AMPERE_24", instead of gpuTypeIds: all their types except excludedGpuTypeIds.',
    )
    .register(propertyOptions, {
      v2: "gpu.pools",
      unordered: true,
      alternativeTo: "gpuTypeIds",
      reportedWhenUnset: ["gpuTypeIds", "excludedGpuTypeIds"],
      catalog: { noun: "GPU pool", ids: Object.keys(gpuPools) },
      ...restartsWorkers,
    }),
  flashbootType: z
    .enum(["OFF", "FLASHBOOT", "PRIORITY_FLASHBOOT"])
    .describe("Start of workers from a saved state, with a priority; replaces flashboot. REST v2 only.")
    .register(propertyOptions, { dialect: "v2", alternativeTo: "flashboot", reportedWhenUnset: ["flashboot"] }),
};

/** Properties of an endpoint that have the same name and form in REST v1 and REST v2, which nests or combines the others. */
export const plainEndpointFields = z.object(endpointFields).pick({ name: true, dataCenterIds: true }).shape;

/** Settings that are null if the endpoint has none. */
type Clearable = "vcpuCount" | "minCudaVersion" | "networkVolumeId" | "executionTimeoutMs";
type Fields = Values<typeof endpointFields>;

/**
 * Settings of an endpoint, independent of the dialect; absent settings stay unchanged, or get the service's default. Absent container
 * settings of an endpoint with a template are the template's.
 */
export type EndpointSettings = Omit<Fields, Clearable> & { [Key in Clearable]?: Fields[Key] | null } & OwnContainer;
/** Changes of an endpoint. */
export type EndpointChanges = Omit<EndpointSettings, "computeType" | "type">;

/** The fields of REST v1. */
const restFields = z
  .object(endpointFields)
  .omit({ type: true, excludedGpuTypeIds: true, gpuPools: true, flashbootType: true });

/** Defaults of POST /endpoints (interface: Endpoint). This client also sends them by REST v2, whose defaults differ. */
export const endpointDefaults = {
  computeType: "GPU",
  gpuTypeIds: [],
  gpuCount: 1,
  dataCenterIds: [],
  allowedCudaVersions: [],
  networkVolumeIds: [],
  idleTimeout: 5,
  flashboot: false,
  scalerType: "QUEUE_DELAY",
  scalerValue: 4,
  workersMin: 0,
  workersMax: 3,
} satisfies Fields;

/** The rule for the numbers of workers. */
export const workersRule = rule<{ workersMin: number; workersMax: number }, "workersMin" | "workersMax">(
  ["workersMin", "workersMax"],
  ({ workersMin, workersMax }) => workersMin <= workersMax,
  { path: "workersMax", error: (nameOf) => `must be at least ${nameOf("workersMin")}` },
);

/** Body of POST /endpoints, with its defaults. */
export const restEndpointCreate = restFields
  .partial()
  .extend({ ...withDefaults(endpointFields, endpointDefaults), templateId: endpointFields.templateId })
  .check(workersRule);

/** Body of PATCH /endpoints/{id}: all fields except computeType. Null is not allowed; an empty string clears a field. */
export const restEndpointPatch = restFields.omit({ computeType: true }).partial();

/** A worker of an endpoint; some APIs omit its version and whether it is outdated. */
export const workerRecord = z.lazy(() =>
  z.looseObject({
    id: recordId,
    status: orUndefined(z.string()),
    version: orUndefined(z.number()),
    isStale: orUndefined(z.boolean()),
  }),
);
export type WorkerRecord = z.output<typeof workerRecord>;

/** An endpoint in a response of REST v1. An absent key is not shown by the service; undefined means no value. */
export const serverlessEndpointRecord = z.lazy(() =>
  z.object({
    ...recordShapes(restFields.shape),
    id: recordId,
    name: z.string(),
    templateId: z.string(),
    /** CPU flavour, virtual CPUs and memory in GB, such as `cpu3c-8-16`. */
    instanceIds: orUndefined(z.array(z.string())),
    version: orUndefined(z.number()),
    createdAt: isoTimestamp,
  }),
);
export type ServerlessEndpointRecord = z.output<typeof serverlessEndpointRecord>;

/** An endpoint, independent of the dialect; lists without values are empty. */
export interface EndpointRecord
  extends Partial<Omit<ServerlessEndpointRecord, RecordLists | "templateId" | "instanceIds">> {
  id: string;
  name: string;
  gpuTypeIds: string[];
  cpuFlavorIds: string[];
  dataCenterIds: string[];
  allowedCudaVersions: string[];
  networkVolumeIds: string[];
  /** The bound or copied template; undefined if the service does not return it. */
  templateId?: string | undefined;
  /** Container settings of the endpoint; undefined if it is bound to a template. */
  container?: ContainerSettings | undefined;
  /** The container settings that override those of the template `templateId`. */
  own?: OwnContainer | undefined;
  /** True if all GPU types except the excluded types are allowed. Undefined if `gpuTypeIds` is ordered by priority. */
  anyGpuType?: boolean | undefined;
  excludedGpuTypeIds?: string[] | undefined;
  gpuPools?: string[] | undefined;
  flashbootType?: string | undefined;
  type?: string | undefined;
  /** Address for requests, if it is not the job API. */
  requestUrl?: string | undefined;
  /** Settings that this record does not show; their values are meaningless. */
  unknownKeys?: readonly (keyof EndpointSettings)[] | undefined;
}
type RecordLists = "gpuTypeIds" | "cpuFlavorIds" | "dataCenterIds" | "allowedCudaVersions" | "networkVolumeIds";

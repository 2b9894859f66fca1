import { z } from "zod";
import { limits } from "./limits";
import { isoTimestamp, orNothing } from "./record-values";
import { rule } from "./rule";

/** The fields of an endpoint: what the inputs of the resource and the bodies are made of. */
export const endpointFields = {
  name: z.string().min(1).max(limits.nameLength).describe("Name of the endpoint; need not be unique."),
  templateId: z.string().min(1).describe("Id of the template that its workers run."),
  computeType: z.enum(["GPU", "CPU"]).describe("Hardware of its workers."),
  gpuTypeIds: z
    .array(z.string().min(1))
    .describe(
      'GPU types, for example "NVIDIA L4"; any type if empty. REST v1 uses the first available one. REST v2 has no order: it uses any of them.',
    ),
  gpuCount: z.int().min(1).describe("GPUs of each worker."),
  cpuFlavorIds: z
    .array(z.string().min(1))
    .describe(
      'CPU flavours in priority order, for example "cpu3c". REST v2 also accepts a flavour with virtual CPUs of its own, for example "cpu5c-8".',
    ),
  vcpuCount: z.int().min(1).describe("Virtual CPUs of each worker, for flavours without a number of their own."),
  dataCenterIds: z.array(z.string().min(1)).describe("Data centres its workers may run in; any when empty."),
  allowedCudaVersions: z.array(z.string().min(1)).describe("CUDA versions its workers may have; any when empty."),
  minCudaVersion: z.string().describe("Lowest CUDA version its workers may have."),
  networkVolumeId: z.string().describe("Id of the network volume that its workers mount."),
  networkVolumeIds: z.array(z.string().min(1)).describe("Ids of network volumes in several data centres."),
  idleTimeout: z
    .int()
    .min(1)
    .max(3600)
    .describe(
      "Seconds that an idle worker stays up. With REST v2 leave it out for a queue with scalerType REQUEST_COUNT.",
    ),
  executionTimeoutMs: z
    .int()
    .min(limits.executionTimeout.min)
    .max(limits.executionTimeout.max)
    .describe("Milliseconds that a job may run; a job's own policy overrides it."),
  flashboot: z.boolean().describe("Whether workers start from a saved state."),
  scalerType: z
    .enum(["QUEUE_DELAY", "REQUEST_COUNT"])
    .describe("Criterion for adding workers: waiting time or number of jobs."),
  scalerValue: z.int().min(1).describe("Seconds of waiting (QUEUE_DELAY) or jobs per worker (REQUEST_COUNT)."),
  workersMin: z.int().min(0).describe("Workers that are always up."),
  workersMax: z.int().min(0).describe("Workers at most."),
};

/** Body of POST /endpoints, with its defaults (interface: Endpoint). */
export const restEndpointCreate = z
  .object({
    name: endpointFields.name.optional(),
    templateId: endpointFields.templateId,
    computeType: endpointFields.computeType.default("GPU"),
    gpuTypeIds: endpointFields.gpuTypeIds.default([]),
    gpuCount: endpointFields.gpuCount.default(1),
    cpuFlavorIds: endpointFields.cpuFlavorIds.optional(),
    vcpuCount: endpointFields.vcpuCount.optional(),
    minCudaVersion: endpointFields.minCudaVersion.optional(),
    networkVolumeId: endpointFields.networkVolumeId.optional(),
    executionTimeoutMs: endpointFields.executionTimeoutMs.optional(),
    dataCenterIds: endpointFields.dataCenterIds.default([]),
    allowedCudaVersions: endpointFields.allowedCudaVersions.default([]),
    networkVolumeIds: endpointFields.networkVolumeIds.default([]),
    idleTimeout: endpointFields.idleTimeout.default(5),
    flashboot: endpointFields.flashboot.default(false),
    scalerType: endpointFields.scalerType.default("QUEUE_DELAY"),
    scalerValue: endpointFields.scalerValue.default(4),
    workersMin: endpointFields.workersMin.default(0),
    workersMax: endpointFields.workersMax.default(3),
  })
  .check(
    rule(["workersMin", "workersMax"], ({ workersMin, workersMax }) => workersMin <= workersMax, {
      path: "workersMax",
      error: "must not be lower than workersMin",
    }),
  );

/** A worker of an endpoint; some APIs omit its version and whether that is outdated. */
export const workerRecord = z.lazy(() =>
  z.looseObject({
    id: z.string(),
    status: orNothing(z.string()),
    version: orNothing(z.number()),
    isStale: orNothing(z.boolean()),
  }),
);
export type WorkerRecord = z.output<typeof workerRecord>;

/** An endpoint as REST v1 returns it. Undefined is not shown, null is none. */
export const serverlessEndpointRecord = z.lazy(() => {
  const [text, count, flag] = [z.string().nullish(), z.number().nullish(), z.boolean().nullish()];
  const list = z.array(z.string()).nullish();
  return z.looseObject({
    id: z.string(),
    name: z.string(),
    templateId: z.string(),
    computeType: text,
    gpuTypeIds: list,
    gpuCount: count,
    cpuFlavorIds: list,
    vcpuCount: count,
    /** CPU flavour, virtual CPUs and GB of memory, such as `cpu3c-8-16`. */
    instanceIds: list,
    dataCenterIds: list,
    allowedCudaVersions: list,
    minCudaVersion: text,
    networkVolumeId: text,
    networkVolumeIds: list,
    idleTimeout: count,
    executionTimeoutMs: count,
    flashboot: flag,
    scalerType: text,
    scalerValue: count,
    workersMin: count,
    workersMax: count,
    version: count,
    createdAt: isoTimestamp,
  });
});
export type ServerlessEndpointRecord = z.output<typeof serverlessEndpointRecord>;

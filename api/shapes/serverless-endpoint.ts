import { z } from "zod";
import { isoTimestamp } from "./iso-timestamp";
import { limits } from "./limits";

const fields = {
  name: z.string().min(1).max(limits.nameLength).describe("Name of the endpoint; need not be unique."),
  templateId: z.string().min(1).describe("Id of the template that its workers run."),
  computeType: z.enum(["GPU", "CPU"]).describe("What its workers compute on."),
  gpuTypeIds: z
    .array(z.string().min(1))
    .describe('GPU types in priority order, for example "NVIDIA L4"; the first available one is used.'),
  gpuCount: z.int().min(1).describe("GPUs of each worker."),
  cpuFlavorIds: z.array(z.string().min(1)).describe('CPU flavours in priority order, for example "cpu3c".'),
  vcpuCount: z.int().min(1).describe("Virtual CPUs of each worker."),
  dataCenterIds: z.array(z.string().min(1)).describe("Data centres its workers may run in; any when empty."),
  allowedCudaVersions: z.array(z.string().min(1)).describe("CUDA versions its workers may have; any when empty."),
  minCudaVersion: z.string().describe("Lowest CUDA version its workers may have."),
  networkVolumeId: z.string().describe("Id of the network volume that its workers mount."),
  networkVolumeIds: z.array(z.string().min(1)).describe("Ids of network volumes in several data centres."),
  idleTimeout: z.int().min(1).max(3600).describe("Seconds that an idle worker stays up."),
  executionTimeoutMs: z
    .int()
    .min(limits.executionTimeout.min)
    .max(limits.executionTimeout.max)
    .describe("Milliseconds that a job may run; a job's own policy overrides it."),
  flashboot: z.boolean().describe("Whether workers start from a saved state."),
  scalerType: z.enum(["QUEUE_DELAY", "REQUEST_COUNT"]).describe("What adds workers: waiting time or number of jobs."),
  scalerValue: z.int().min(1).describe("Seconds of waiting (QUEUE_DELAY) or jobs per worker (REQUEST_COUNT)."),
  workersMin: z.int().min(0).describe("Workers that are always up."),
  workersMax: z.int().min(0).describe("Workers at most."),
};

/** Body of POST /endpoints, with its defaults (interface: Endpoint). */
export const restEndpointCreate = z
  .object({
    name: fields.name.optional(),
    templateId: fields.templateId,
    computeType: fields.computeType.default("GPU"),
    gpuTypeIds: fields.gpuTypeIds.default([]),
    gpuCount: fields.gpuCount.default(1),
    cpuFlavorIds: fields.cpuFlavorIds.optional(),
    vcpuCount: fields.vcpuCount.optional(),
    minCudaVersion: fields.minCudaVersion.optional(),
    networkVolumeId: fields.networkVolumeId.optional(),
    executionTimeoutMs: fields.executionTimeoutMs.optional(),
    dataCenterIds: fields.dataCenterIds.default([]),
    allowedCudaVersions: fields.allowedCudaVersions.default([]),
    networkVolumeIds: fields.networkVolumeIds.default([]),
    idleTimeout: fields.idleTimeout.default(5),
    flashboot: fields.flashboot.default(false),
    scalerType: fields.scalerType.default("QUEUE_DELAY"),
    scalerValue: fields.scalerValue.default(4),
    workersMin: fields.workersMin.default(0),
    workersMax: fields.workersMax.default(3),
  })
  .refine(({ workersMin, workersMax }) => workersMin <= workersMax, {
    path: ["workersMax"],
    error: "must not be lower than workersMin",
  });

const { computeType: _never, ...patchable } = fields;
/** Body of PATCH /endpoints/{id}: any field but computeType; null clears an optional one. */
export const restEndpointPatch = z.object({
  ...z.object(patchable).partial().shape,
  networkVolumeId: fields.networkVolumeId.nullish(),
  executionTimeoutMs: fields.executionTimeoutMs.nullish(),
  minCudaVersion: fields.minCudaVersion.nullish(),
});

const listOrNothing = z
  .array(z.string())
  .nullish()
  .transform((value) => value ?? []);
const orNothing = <Shape extends z.ZodType>(shape: Shape) => shape.nullish().transform((value) => value ?? undefined);

/** A worker of an endpoint; not every API says what version of the endpoint it runs, or whether that is an old one. */
export const workerRecord = z.looseObject({
  id: z.string(),
  status: orNothing(z.string()),
  version: orNothing(z.number()),
  isStale: orNothing(z.boolean()),
});
export type WorkerRecord = z.output<typeof workerRecord>;

/** An endpoint as the service returns it: what it leaves out is undefined, lists are empty. */
export const serverlessEndpointRecord = z.looseObject({
  id: z.string(),
  name: z.string(),
  templateId: z.string(),
  computeType: orNothing(z.string()),
  gpuTypeIds: listOrNothing,
  gpuCount: orNothing(z.number()),
  cpuFlavorIds: listOrNothing,
  vcpuCount: orNothing(z.number()),
  dataCenterIds: listOrNothing,
  allowedCudaVersions: listOrNothing,
  minCudaVersion: orNothing(z.string()),
  networkVolumeId: orNothing(z.string()),
  networkVolumeIds: listOrNothing,
  idleTimeout: orNothing(z.number()),
  executionTimeoutMs: orNothing(z.number()),
  flashboot: orNothing(z.boolean()),
  scalerType: orNothing(z.string()),
  scalerValue: orNothing(z.number()),
  workersMin: orNothing(z.number()),
  workersMax: orNothing(z.number()),
  version: orNothing(z.number()),
  createdAt: isoTimestamp,
});

import { z } from "zod";
import { adoptExisting } from "./adoption";
import { limits } from "./limits";
import { mark } from "./marks";
import { moment } from "./moment";

const restartsWorkers = "active workers may restart";

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

const optional = {
  cpuFlavorIds: fields.cpuFlavorIds.optional(),
  vcpuCount: fields.vcpuCount.optional(),
  minCudaVersion: fields.minCudaVersion.optional(),
  networkVolumeId: fields.networkVolumeId.optional(),
  executionTimeoutMs: fields.executionTimeoutMs.optional(),
};

const workersInOrder = {
  path: ["workersMax"],
  error: "must not be lower than workersMin",
};
const inOrder = (endpoint: { workersMin: number; workersMax: number }): boolean =>
  endpoint.workersMin <= endpoint.workersMax;

/** What an endpoint is set to (interface: Endpoint). */
const settings = {
  name: fields.name.optional(),
  templateId: fields.templateId,
  computeType: mark(fields.computeType.default("GPU"), { replaces: true }),
  gpuTypeIds: mark(fields.gpuTypeIds.default([]), { warns: restartsWorkers }),
  gpuCount: mark(fields.gpuCount.default(1), { warns: restartsWorkers }),
  ...optional,
  dataCenterIds: mark(fields.dataCenterIds.default([]), { unordered: true }),
  allowedCudaVersions: mark(fields.allowedCudaVersions.default([]), { unordered: true }),
  networkVolumeIds: mark(fields.networkVolumeIds.default([]), { unordered: true }),
  idleTimeout: fields.idleTimeout.default(5),
  flashboot: fields.flashboot.default(false),
  scalerType: fields.scalerType.default("QUEUE_DELAY"),
  scalerValue: fields.scalerValue.default(4),
  workersMin: mark(fields.workersMin.default(0), { warns: restartsWorkers }),
  workersMax: mark(fields.workersMax.default(3), { warns: restartsWorkers }),
};

/** Inputs of a ServerlessEndpoint resource. */
export const serverlessEndpointInputs = z.strictObject({ ...settings, adoptExisting }).refine(inOrder, workersInOrder);

/** What a ServerlessEndpoint resource knows only once it exists. */
export const serverlessEndpointOutputs = z.object({
  url: z.string().describe("Root of the endpoint's job API."),
  version: z.int().describe("Counts the changes of its template and environment."),
});

/** Body of POST /endpoints. */
export const restEndpointCreate = z.object(settings).refine(inOrder, workersInOrder);

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

/** An endpoint as the service answers it: what it leaves out is undefined, lists are empty. */
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
  createdAt: moment,
});
export type ServerlessEndpointRecord = z.output<typeof serverlessEndpointRecord>;
/** Body of POST /endpoints as a client may write it. */
export type ServerlessEndpointCreate = z.input<typeof restEndpointCreate>;
/** Body of PATCH /endpoints/{id}. */
export type ServerlessEndpointPatch = z.input<typeof restEndpointPatch>;

import { z } from "zod";
import { templatePort } from "./container";
import { limits } from "./limits";
import { cudaVersionPattern, gpuTypePattern, plainEndpointFields } from "./serverless-endpoint";
import { templateFields } from "./template";

/**
 * Request shapes of REST v2; the service rejects unknown keys. Sizes in GB; `timeout` in ms, `queueDelay` and `idleTimeout`
 * in seconds.
 */

const env = templateFields.env;
/** A list of exposed ports. */
export const portList = z.array(
  z
    .string()
    .regex(
      new RegExp(`^${templatePort}$`),
      '<port>/http or <port>/tcp with a port from 1 to 65535, such as "8888/http"',
    ),
);
/** Id of saved registry credentials; null for none. */
const registry = z.string().min(1).nullable();
const disk = z.int().min(1).max(limits.number);
const ids = z.array(z.string().min(1));

/** Container settings of an endpoint or a template. */
export const v2Container = {
  image: z.string().min(1).max(limits.imageNameLength),
  /** The start command: a command line, or the JSON text `{"entrypoint": […], "cmd": […]}`. */
  args: z.string(),
  entrypoint: z.array(z.string()),
  cmd: z.array(z.string()),
  disk,
  env,
  ports: portList,
  registry,
};

const hasNoDuplicates = (list: string[]): boolean => new Set(list).size === list.length;
const cpu = z
  .array(z.strictObject({ id: z.string().min(1), vcpuCount: z.int().min(2) }))
  .min(1)
  .refine((list) => hasNoDuplicates(list.map(({ id, vcpuCount }) => `${id} ${vcpuCount}`)), {
    error: "must not have the same choice twice",
  });

/** A CUDA version in a body of REST v2. */
export const cudaVersion = z.string().regex(cudaVersionPattern, "<major>.<minor>, such as 12.8");
const gpu = {
  pools: ids.min(1),
  excludedTypes: z
    .array(z.string().regex(gpuTypePattern, "the id of a GPU type"))
    .refine(hasNoDuplicates, { error: "must not name a type twice" }),
  count: z.int().min(1),
  allowedCudaVersions: z.array(cudaVersion),
  minCudaVersion: cudaVersion,
};

/** Execution timeout, ms; 0 for the service's default. */
const timeout = z.int().refine(
  (value) => {
    const { min, max } = limits.executionTimeout;
    return value === 0 || (value >= min && value <= max);
  },
  { error: `must be 0, or from ${limits.executionTimeout.min} to ${limits.executionTimeout.max}` },
);

/** Scaling criterion: the waiting time of jobs, in seconds, or the number of jobs per worker. */
const v2Scaling = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("QUEUE_DELAY"), queueDelay: z.number().min(0.5).max(limits.number) }),
  z.strictObject({ type: z.literal("REQUEST_COUNT"), requestCount: z.int().min(1).max(limits.number) }),
]);
export type V2Scaling = z.output<typeof v2Scaling>;

const workers = { min: z.int().min(0), max: z.int().min(0), idleTimeout: z.int().min(1).max(3600) };

const v2Flashboot = z.enum(["OFF", "FLASHBOOT", "PRIORITY_FLASHBOOT"]);

const settings = {
  ...plainEndpointFields,
  scaling: v2Scaling,
  templateId: z.string().min(1),
  cpu,
  networkVolumes: ids,
  timeout,
  flashboot: v2Flashboot,
  ...v2Container,
};

/** Body of PATCH /serverless/{id}: omitted fields stay unchanged. An empty list of CUDA versions clears them. */
export const v2EndpointPatch = z
  .strictObject({
    ...settings,
    gpu: z.strictObject({ ...gpu, minCudaVersion: cudaVersion.or(z.literal("")) }).partial(),
    workers: z.strictObject(workers).partial(),
  })
  .partial();
export type V2EndpointPatch = z.input<typeof v2EndpointPatch>;

/** Body of POST /serverless. Requires exactly one of `gpu` and `cpu`, and `image` or `templateId`; the service checks both rules. */
export const v2EndpointCreate = v2EndpointPatch.extend({
  name: plainEndpointFields.name,
  type: z.enum(["QUEUE", "LOAD_BALANCER"]),
  scaling: v2Scaling,
  gpu: z
    .strictObject(gpu)
    .partial({
      excludedTypes: true,
      count: true,
      allowedCudaVersions: true,
      minCudaVersion: true,
    })
    .optional(),
});
export type V2EndpointCreate = z.input<typeof v2EndpointCreate>;

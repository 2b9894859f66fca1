import { cpuFlavorIds } from "serverless-compute-api/catalog";
import {
  fromV2Names,
  plainEndpointFields,
  toV2Names,
  type V2Scaling,
  type v2EndpointPatch,
} from "serverless-compute-api/shapes";
import type { z } from "zod";
import { invalidProperty as invalid, ServiceError } from "../errors";
import {
  gpuPools,
  gpuTypesOf,
  instanceId,
  instanceOf,
  maxPerWorker,
  requireListed,
  shownGpuIds,
  splitList,
} from "../resources/catalog";
import type { Container } from "../resources/endpoint-containers";
import { type EndpointRow, type EndpointValues, flashBootType, volumesOf } from "../resources/endpoint-table";
import { withoutNulls } from "../resources/table";
import type { TemplateRow } from "../resources/template-table";
import { healthPathOf } from "../workers/worker-server";
import { isoTime, roots } from "./responses";
import { type ContainerFields, containerChanges, containerRecord } from "./rest-v2-templates";

/** Mapping of endpoints between REST v2 and resource fields. */

/** The container settings of a body, as changes of the `current` settings. */
export function endpointContainer(body: ContainerFields, current: TemplateRow | undefined): Container {
  const changes = containerChanges(body, current);
  const clearedAuth = changes.containerRegistryAuthId === null && { containerRegistryAuthId: undefined };
  return { ...withoutNulls(changes), ...clearedAuth };
}

const scalerOf = (scaling: V2Scaling): EndpointValues =>
  scaling.type === "QUEUE_DELAY"
    ? { scalerType: scaling.type, scalerValue: scaling.queueDelay }
    : { scalerType: scaling.type, scalerValue: scaling.requestCount };

type Body = z.output<typeof v2EndpointPatch>;

/** The excluded types, trimmed; each must be in one of the pools, and at least one type must remain. */
function readExcludedTypes(pools: readonly string[], typesInput: readonly string[]): string[] {
  const excluded = typesInput.map((type) => type.trim());
  const types = gpuTypesOf(pools.join(","));
  const unknown = excluded.find((type) => !types.includes(type));
  if (unknown !== undefined) throw invalid("gpu.excludedTypes", `"${unknown}" is in none of the pools`);
  if (types.every((type) => excluded.includes(type)))
    throw invalid("gpu.excludedTypes", "must leave at least one type");
  return excluded;
}

/** The GPUs of a request as `gpuIds`; new pools also replace the excluded types. */
function gpuValues(gpu: NonNullable<Body["gpu"]>): EndpointValues {
  const { pools, excludedTypes = [], count, allowedCudaVersions, minCudaVersion } = gpu;
  if (allowedCudaVersions?.length && minCudaVersion) {
    throw invalid("gpu", "allowedCudaVersions cannot be combined with minCudaVersion");
  }
  for (const pool of pools ?? []) {
    if (gpuPools.some(({ id }) => id === pool)) continue;
    throw invalid("gpu.pools", `"${pool}" does not exist; must be one of ${gpuPools.map(({ id }) => id).join(", ")}`);
  }
  const gpuIds = pools && [...pools, ...readExcludedTypes(pools, excludedTypes).map((type) => `-${type}`)].join(",");
  return {
    ...(gpuIds === undefined ? {} : { gpuIds, gpuTypeIds: gpuTypesOf(gpuIds) }),
    gpuCount: count,
    allowedCudaVersions,
    minCudaVersion: minCudaVersion === undefined ? undefined : minCudaVersion || null,
  };
}

function cpuValues(cpu: NonNullable<Body["cpu"]>): EndpointValues {
  const { vcpus: maxVcpus } = maxPerWorker;
  requireListed(
    "cpu",
    cpu.map(({ id }) => id),
    cpuFlavorIds,
  );
  for (const { id, vcpuCount } of cpu) {
    if (Number.isInteger(Math.log2(vcpuCount)) && vcpuCount <= maxVcpus) continue;
    throw invalid("cpu", `vcpuCount ${vcpuCount} is not allowed for ${id}; must be a power of two up to ${maxVcpus}`);
  }
  return { computeType: "CPU", instanceIds: cpu.map(({ id, vcpuCount }) => instanceId(id, vcpuCount)) };
}

const computeValues = ({ gpu, cpu }: Body, current: EndpointRow | undefined): EndpointValues => {
  if (current && cpu && current.computeType === "GPU") throw invalid("cpu", "cannot be set for a GPU endpoint");
  if (current && gpu && current.computeType === "CPU") throw invalid("gpu", "cannot be set for a CPU endpoint");
  if (!current && Boolean(gpu) === Boolean(cpu)) throw new ServiceError("invalid", "gpu, cpu: exactly one is required");
  return { ...(gpu && gpuValues(gpu)), ...(cpu && cpuValues(cpu)) };
};

/**
 * The endpoint values of a POST or PATCH body, without the container. `current` is the endpoint of a PATCH. A new GPU endpoint copies the
 * CUDA versions of its `template` if the body does not constrain them.
 */
export function endpointValues(body: Body, current: EndpointRow | undefined, template?: TemplateRow): EndpointValues {
  const { scaling, networkVolumes, workers, timeout, flashboot } = body;
  const [volume, ...otherVolumes] = networkVolumes ?? [];
  const isConstrained = body.gpu?.allowedCudaVersions !== undefined || body.gpu?.minCudaVersion !== undefined;
  return {
    ...fromV2Names<unknown>(plainEndpointFields, body),
    ...computeValues(body, current),
    ...(template && body.gpu && !isConstrained && { allowedCudaVersions: template.allowedCudaVersions }),
    ...(scaling && scalerOf(scaling)),
    // A single volume is stored in the field of REST v1.
    ...(networkVolumes && {
      networkVolumeId: otherVolumes.length === 0 ? (volume ?? null) : null,
      networkVolumeIds: otherVolumes.length === 0 ? [] : networkVolumes,
    }),
    workersMin: workers?.min,
    workersMax: workers?.max,
    idleTimeout: workers?.idleTimeout,
    executionTimeoutMs: timeout === undefined ? undefined : timeout || null,
    ...(flashboot && {
      flashboot: flashboot !== "OFF",
      flashbootPriority: flashboot === "PRIORITY_FLASHBOOT" ? true : null,
    }),
  };
}

/** Defaults of a POST. */
export const endpointDefaults = { workersMin: 0, workersMax: 3, idleTimeout: 10 } as const;

function gpuRecord(endpoint: EndpointRow) {
  const entries = splitList(shownGpuIds(endpoint));
  const pools = entries.filter((entry) => !entry.startsWith("-"));
  return {
    // An endpoint without GPU types, created by another API, allows all types.
    pools: pools.length > 0 ? pools : gpuPools.map(({ id }) => id),
    excludedTypes: [...new Set(entries.filter((entry) => entry.startsWith("-")).map((entry) => entry.slice(1)))],
    count: endpoint.gpuCount,
    allowedCudaVersions: endpoint.allowedCudaVersions,
    minCudaVersion: endpoint.minCudaVersion || null,
  };
}

const cpuRecord = ({ instanceIds }: EndpointRow) =>
  instanceIds.map(instanceOf).map(({ flavor, ...size }) => ({ id: flavor, ...size }));

const scalingRecord = ({ scalerType, scalerValue }: EndpointRow): V2Scaling =>
  scalerType === "QUEUE_DELAY"
    ? { type: scalerType, queueDelay: scalerValue }
    : { type: scalerType, requestCount: Math.ceil(scalerValue) };

/** The addresses of an endpoint whose workers have the environment `env`. */
function requestUrls({ id, type }: EndpointRow, env: Record<string, string>, root: string): Record<string, string> {
  if (type === "LB") {
    const base = `${root}${roots.loadBalancers}/${id}`;
    return { base, health: `${base}${healthPathOf(env)}` };
  }
  const base = `${root}${roots.jobs}/${id}`;
  return {
    run: `${base}/run`,
    runSync: `${base}/runsync`,
    status: `${base}/status/{job_id}`,
    stream: `${base}/stream/{job_id}`,
    cancel: `${base}/cancel/{job_id}`,
    retry: `${base}/retry/{job_id}`,
    purgeQueue: `${base}/purge-queue`,
    health: `${base}/health`,
  };
}

/** An endpoint as returned by REST v2: with its container, without its template. `root` is the root of the job API. */
export function endpointRecord(endpoint: EndpointRow, template: TemplateRow, root: string) {
  const container = containerRecord(template, endpoint.env);
  return {
    id: endpoint.id,
    ...toV2Names<unknown>(plainEndpointFields, { ...endpoint }),
    type: endpoint.type === "LB" ? "LOAD_BALANCER" : "QUEUE",
    requestUrls: requestUrls(endpoint, container.env, root),
    ...container,
    ...(endpoint.computeType === "GPU" ? { gpu: gpuRecord(endpoint) } : { cpu: cpuRecord(endpoint) }),
    workers: {
      min: endpoint.workersMin,
      max: endpoint.workersMax,
      ...(endpoint.type === "QB" && endpoint.scalerType === "REQUEST_COUNT"
        ? {}
        : { idleTimeout: endpoint.idleTimeout }),
    },
    scaling: scalingRecord(endpoint),
    networkVolumes: volumesOf(endpoint),
    // 0 means the service's default.
    timeout: endpoint.executionTimeoutMs ?? 0,
    flashboot: flashBootType(endpoint),
    createdAt: isoTime(endpoint.createdAt),
  };
}

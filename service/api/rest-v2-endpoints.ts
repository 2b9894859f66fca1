import { limits, type V2Scaling, type v2EndpointPatch } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { ServiceError } from "../errors";
import { cpuFlavors, gpuPools, gpuTypesOf, shownGpuIds, splitList } from "../resources/catalog";
import type { Container } from "../resources/endpoint-containers";
import { type EndpointRow, type EndpointValues, flashBootType, volumesOf } from "../resources/endpoints";
import { withoutNulls } from "../resources/table";
import type { TemplateRow } from "../resources/templates";
import { type ContainerFields, containerChanges, containerRecord } from "./rest-v2-templates";

/** What REST v2 takes and shows of endpoints, in the fields of the resources. */

const refused = (fault: string): ServiceError => new ServiceError("invalid", fault);

/** Those that a request for an endpoint has. New arguments replace an entrypoint, too: they are the whole start command. */
export function endpointContainer(body: ContainerFields): Container {
  const changes = containerChanges(body);
  const cleared = changes.containerRegistryAuthId === null && { containerRegistryAuthId: undefined };
  return { ...withoutNulls(changes), ...cleared };
}

const scalerOf = (scaling: V2Scaling): EndpointValues =>
  scaling.type === "QUEUE_DELAY"
    ? { scalerType: scaling.type, scalerValue: scaling.queueDelay }
    : { scalerType: scaling.type, scalerValue: scaling.requestCount };

type Body = z.output<typeof v2EndpointPatch>;

/** The GPUs of a request as `gpuIds`; what is not sent stays as in `current`. */
function gpuValues(gpu: NonNullable<Body["gpu"]>, current: EndpointRow | undefined): EndpointValues {
  const { pools, excludedTypes, count, allowedCudaVersions, minCudaVersion } = gpu;
  if (allowedCudaVersions?.length && minCudaVersion) {
    throw refused("gpu: allowedCudaVersions and minCudaVersion must not be given together");
  }
  if (!pools && excludedTypes) throw refused("gpu.excludedTypes: must come with gpu.pools");
  for (const pool of pools ?? []) {
    if (gpuPools.some(({ id }) => id === pool)) continue;
    throw refused(`gpu.pools: "${pool}" does not exist, must be one of ${gpuPools.map(({ id }) => id).join(", ")}`);
  }
  const gpuIds = pools && [...pools, ...(excludedTypes ?? []).map((type) => `-${type}`)].join(",");
  return {
    ...(gpuIds === undefined ? {} : { gpuIds, gpuTypeIds: gpuTypesOf(gpuIds) }),
    gpuCount: count,
    // Either kind of constraint takes the place of the other one.
    allowedCudaVersions: allowedCudaVersions ?? (minCudaVersion && current ? [] : undefined),
    minCudaVersion:
      minCudaVersion === undefined ? (allowedCudaVersions?.length ? null : undefined) : minCudaVersion || null,
  };
}

const memoryOf = (flavor: string, vcpuCount: number): number =>
  (cpuFlavors.find(({ id }) => id === flavor)?.ramMultiplier ?? 2) * vcpuCount;

const cpuValues = (cpu: NonNullable<Body["cpu"]>): EndpointValues => ({
  computeType: "CPU",
  cpuFlavorIds: cpu.map(({ id }) => id),
  vcpuCount: cpu[0]?.vcpuCount,
  instanceIds: cpu.map(({ id, vcpuCount }) => `${id}-${vcpuCount}-${memoryOf(id, vcpuCount)}`),
});

const computeValues = ({ gpu, cpu }: Body, current: EndpointRow | undefined): EndpointValues => {
  if (current && cpu && current.computeType === "GPU") throw refused("cpu: must not be given for a GPU endpoint");
  if (current && gpu && current.computeType === "CPU") throw refused("gpu: must not be given for a CPU endpoint");
  if (!current && Boolean(gpu) === Boolean(cpu)) throw refused("gpu, cpu: exactly one of them must be given");
  return { ...(gpu && gpuValues(gpu, current)), ...(cpu && cpuValues(cpu)) };
};

/** The values that the body of a POST or PATCH of an endpoint sets, without its container; `current` is the endpoint of a PATCH. */
export function endpointValues(body: Body, current: EndpointRow | undefined): EndpointValues {
  const { name, scaling, dataCenterIds, networkVolumes, workers, timeout, flashboot } = body;
  const [volume, ...more] = networkVolumes ?? [];
  return {
    name,
    ...computeValues(body, current),
    ...(scaling && scalerOf(scaling)),
    dataCenterIds,
    // One volume is the one that REST v1 names.
    ...(networkVolumes && {
      networkVolumeId: more.length === 0 ? (volume ?? null) : null,
      networkVolumeIds: more.length === 0 ? [] : networkVolumes,
    }),
    workersMin: workers?.min,
    workersMax: workers?.max,
    idleTimeout: workers?.idleTimeout,
    executionTimeoutMs: timeout,
    ...(flashboot && {
      flashboot: flashboot !== "OFF",
      flashbootPriority: flashboot === "PRIORITY_FLASHBOOT" ? true : null,
    }),
  };
}

/** What a POST sets where its body says nothing. */
export const endpointDefaults = { workersMin: 0, workersMax: 3, idleTimeout: 10, executionTimeoutMs: 300_000 } as const;

function gpuRecord(endpoint: EndpointRow) {
  const words = splitList(shownGpuIds(endpoint));
  return {
    pools: words.filter((word) => !word.startsWith("-")),
    excludedTypes: words.filter((word) => word.startsWith("-")).map((word) => word.slice(1)),
    count: endpoint.gpuCount,
    allowedCudaVersions: endpoint.allowedCudaVersions,
    minCudaVersion: endpoint.minCudaVersion || null,
  };
}

/** The CPU instances as they were set last, by either version of REST. */
function cpuRecord({ instanceIds, cpuFlavorIds = [], vcpuCount = 2 }: EndpointRow) {
  const instances = instanceIds.map((id) => {
    const [flavor = "", count] = id.split("-");
    return { id: flavor, vcpuCount: Number(count ?? vcpuCount) };
  });
  const flavors = cpuFlavorIds.map((id) => ({ id, vcpuCount }));
  const sameFlavors = instances.map(({ id }) => id).join() === cpuFlavorIds.join();
  const same = flavors.length === 0 || (sameFlavors && instances[0]?.vcpuCount === vcpuCount);
  const shown = same && instances.length > 0 ? instances : flavors;
  return shown.map((one) => ({ ...one, memory: memoryOf(one.id, one.vcpuCount) }));
}

const scalingRecord = ({ scalerType, scalerValue }: EndpointRow): V2Scaling =>
  scalerType === "QUEUE_DELAY"
    ? { type: scalerType, queueDelay: scalerValue }
    : { type: scalerType, requestCount: Math.ceil(scalerValue) };

/** Where requests to load balancing endpoints would go. */
export const loadBalancerRoot = "/load-balancers";

function requestUrls({ id, type }: EndpointRow, root: string): Record<string, string> {
  if (type === "LB") {
    const base = `${root}${loadBalancerRoot}/${id}`;
    return { base, health: `${base}/ping` };
  }
  const base = `${root}/v2/${id}`;
  return {
    run: `${base}/run`,
    runSync: `${base}/runsync`,
    status: `${base}/status`,
    stream: `${base}/stream`,
    cancel: `${base}/cancel`,
    retry: `${base}/retry`,
    purgeQueue: `${base}/purge-queue`,
    health: `${base}/health`,
  };
}

/** An endpoint as REST v2 shows it: with its container, without its template. `root` is that of the job API. */
export const endpointRecord = (endpoint: EndpointRow, template: TemplateRow, root: string) => ({
  id: endpoint.id,
  name: endpoint.name,
  type: endpoint.type === "LB" ? "LOAD_BALANCER" : "QUEUE",
  requestUrls: requestUrls(endpoint, root),
  ...containerRecord(template, endpoint.env),
  ...(endpoint.computeType === "GPU" ? { gpu: gpuRecord(endpoint) } : { cpu: cpuRecord(endpoint) }),
  workers: { min: endpoint.workersMin, max: endpoint.workersMax, idleTimeout: endpoint.idleTimeout },
  scaling: scalingRecord(endpoint),
  dataCenterIds: endpoint.dataCenterIds,
  networkVolumes: volumesOf(endpoint),
  timeout: endpoint.executionTimeoutMs ?? limits.executionTimeout.default,
  flashboot: flashBootType(endpoint),
  createdAt: new Date(endpoint.createdAt).toISOString(),
});

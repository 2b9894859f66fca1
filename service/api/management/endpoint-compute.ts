import { cpuFlavorIds } from "serverless-compute-api/catalog";
import type { v2EndpointPatch } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { invalidProperty as invalid, ServiceError } from "../../errors";
import {
  gpuPools,
  gpuTypesOf,
  instanceId,
  instanceOf,
  maxPerWorker,
  readGpuIds,
  requireListed,
  shownGpuIds,
} from "../../resources/catalog";
import type { EndpointRow, EndpointValues } from "../../resources/endpoint-table";

/** Mapping of an endpoint's GPUs and CPUs between REST v2 and the resources. */

type Body = Pick<z.output<typeof v2EndpointPatch>, "gpu" | "cpu">;

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

/** The GPUs or CPUs in a body of REST v2. `current` is the endpoint of a PATCH. */
export function readV2Compute({ gpu, cpu }: Body, current: EndpointRow | undefined): EndpointValues {
  if (current && cpu && current.computeType === "GPU") throw invalid("cpu", "cannot be set for a GPU endpoint");
  if (current && gpu && current.computeType === "CPU") throw invalid("gpu", "cannot be set for a CPU endpoint");
  if (!current && Boolean(gpu) === Boolean(cpu)) throw new ServiceError("invalid", "gpu, cpu: exactly one is required");
  return { ...(gpu && gpuValues(gpu)), ...(cpu && cpuValues(cpu)) };
}

function gpuOf(endpoint: EndpointRow) {
  const { included, excluded } = readGpuIds(shownGpuIds(endpoint));
  return {
    // An endpoint without pools, created by another API, allows all types.
    pools: included.length > 0 ? included : gpuPools.map(({ id }) => id),
    excludedTypes: [...new Set(excluded)],
    count: endpoint.gpuCount,
    allowedCudaVersions: endpoint.allowedCudaVersions,
    minCudaVersion: endpoint.minCudaVersion || null,
  };
}

const cpuOf = ({ instanceIds }: EndpointRow) =>
  instanceIds.map(instanceOf).map(({ flavor, ...size }) => ({ id: flavor, ...size }));

/** The GPUs or CPUs of an endpoint as returned by REST v2. */
export const v2ComputeOf = (endpoint: EndpointRow) =>
  endpoint.computeType === "GPU" ? { gpu: gpuOf(endpoint) } : { cpu: cpuOf(endpoint) };

import { invalidArgument, type RequestInfo } from "../errors";
import type { EndpointRecord, EndpointSettings } from "../shapes";

/** A selection of GPU types: pools without some of their types. */
export interface PoolSelection {
  pools: string[];
  excludedTypes: string[];
}

/** The GPU types of each pool, in the catalog's order. */
export type Pools = ReadonlyMap<string, readonly string[]>;

/** The pools of the catalog. Types without a pool are omitted, because serverless endpoints cannot use them. */
export function poolsOf(catalog: readonly { id: string; pool?: string | undefined }[]): Pools {
  const pools = new Map<string, string[]>();
  for (const { id, pool } of catalog) if (pool) pools.set(pool, [...(pools.get(pool) ?? []), id]);
  return pools;
}

/**
 * Selects the pools that contain the requested types, in the order of their first requested type, and excludes their other types. Without
 * requested types, selects the requested pools, or all pools, and excludes the `excluded` types. Throws an ApiError for a type without a
 * pool, and for an unknown pool.
 */
export function selectPools(
  pools: Pools,
  {
    gpuTypeIds: requested = [],
    gpuPools: requestedPools = [],
    excludedGpuTypeIds: excluded = [],
  }: Pick<EndpointSettings, "gpuTypeIds" | "gpuPools" | "excludedGpuTypeIds">,
  request: RequestInfo,
): PoolSelection {
  if (pools.size === 0 && requestedPools.length + excluded.length > 0)
    throw invalidArgument(
      `${requestedPools.length > 0 ? "gpuPools" : "excludedGpuTypeIds"}: the service lists no pools; set gpuTypeIds instead`,
      request,
    );
  const unknownPools = requestedPools.filter((pool) => !pools.has(pool));
  if (unknownPools.length > 0) {
    const names = unknownPools.map((pool) => JSON.stringify(pool)).join(", ");
    throw invalidArgument(
      `gpuPools: the service has no ${names}; its pools are ${[...pools.keys()].join(", ")}`,
      request,
    );
  }
  const pooledTypes = [...pools.values()].flat();
  const unknownTypes = [...requested, ...excluded].filter((type) => !pooledTypes.includes(type));
  if (unknownTypes.length > 0) {
    const property = requested.includes(unknownTypes[0] ?? "") ? "gpuTypeIds" : "excludedGpuTypeIds";
    for (const type of unknownTypes) {
      const members = pools.get(type);
      if (members)
        throw invalidArgument(
          `${property}: ${JSON.stringify(type)} is a pool of: ${members.join(", ")}; set these types instead`,
          request,
        );
    }
    const types = unknownTypes.map((type) => JSON.stringify(type)).join(", ");
    const text = `${property}: no pool of serverless endpoints has ${types}; the types of its pools are ${pooledTypes.join(", ")}`;
    throw invalidArgument(text, request);
  }
  if (requested.length === 0)
    return {
      pools: requestedPools.length > 0 ? [...new Set(requestedPools)] : [...pools.keys()],
      excludedTypes: [...new Set(excluded)],
    };
  const poolOf = (type: string): string[] =>
    [...pools].flatMap(([pool, types]) => (types.includes(type) ? [pool] : []));
  const selectedPools = [...new Set(requested.flatMap(poolOf))];
  const excludedTypes = selectedPools.flatMap((pool) =>
    (pools.get(pool) ?? []).filter((type) => !requested.includes(type)),
  );
  return { pools: selectedPools, excludedTypes };
}

/** Converts an unordered list of GPU types to a choice of pools. A type in no pool counts as a pool. */
export function poolsContaining(pools: Pools, types: readonly string[]): PoolSelection {
  const selectedPools = [...pools].filter(([, members]) => members.some((type) => types.includes(type)));
  const excludedTypes = selectedPools.flatMap(([, members]) => members.filter((type) => !types.includes(type)));
  const pooledTypes = selectedPools.flatMap(([, members]) => members);
  const unpooledTypes = types.filter((type) => !pooledTypes.includes(type));
  return { pools: [...selectedPools.map(([pool]) => pool), ...unpooledTypes], excludedTypes };
}

/** The GPU types of an endpoint's pools; empty (any type) without pools. An unknown pool counts as a type. */
export function gpuTypesIn(
  pools: Pools,
  selection: PoolSelection,
): Required<Pick<EndpointRecord, "gpuTypeIds" | "anyGpuType" | "excludedGpuTypeIds" | "gpuPools">> {
  const excluded = new Set(selection.excludedTypes);
  return {
    gpuTypeIds: selection.pools.flatMap((pool) => (pools.get(pool) ?? [pool]).filter((type) => !excluded.has(type))),
    anyGpuType: selection.pools.length === 0 || [...pools.keys()].every((pool) => selection.pools.includes(pool)),
    excludedGpuTypeIds: selection.excludedTypes,
    gpuPools: selection.pools,
  };
}

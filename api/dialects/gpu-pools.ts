import { invalidArgument, type RequestFacts } from "../errors";
import type { EndpointRecord } from "../shapes";

/** The GPU types of an endpoint in REST v2: pools without some of their types. */
export interface PoolChoice {
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
 * requested types, selects all pools and excludes the `excluded` types. Throws an ApiError for a type without a pool.
 */
export function choosePools(
  pools: Pools,
  wanted: readonly string[],
  excluded: readonly string[],
  request: RequestFacts,
): PoolChoice {
  const all = [...pools.values()].flat();
  const unknown = [...wanted, ...excluded].filter((type) => !all.includes(type));
  if (unknown.length > 0) {
    const property = wanted.includes(unknown[0] ?? "") ? "gpuTypeIds" : "excludedGpuTypeIds";
    const types = unknown.map((type) => JSON.stringify(type)).join(", ");
    const text = `${property}: no pool of serverless endpoints has ${types}; the types of its pools are ${all.join(", ")}`;
    throw invalidArgument(text, request);
  }
  if (wanted.length === 0) return { pools: [...pools.keys()], excludedTypes: [...new Set(excluded)] };
  const poolOf = (type: string): string[] =>
    [...pools].flatMap(([pool, types]) => (types.includes(type) ? [pool] : []));
  const chosen = [...new Set(wanted.flatMap(poolOf))];
  const unwanted = chosen.flatMap((pool) => (pools.get(pool) ?? []).filter((type) => !wanted.includes(type)));
  return { pools: chosen, excludedTypes: unwanted };
}

/** Converts an unordered list of GPU types to a choice of pools. */
export function poolsWith(pools: Pools, types: readonly string[]): PoolChoice {
  const chosen = [...pools].filter(([, members]) => members.some((type) => types.includes(type)));
  const excludedTypes = chosen.flatMap(([, members]) => members.filter((type) => !types.includes(type)));
  return { pools: chosen.map(([pool]) => pool), excludedTypes };
}

/** The GPU types of an endpoint's pools; empty (any type) without pools. An unknown pool counts as a type. */
export function gpuTypesIn(
  pools: Pools,
  choice: PoolChoice,
): Required<Pick<EndpointRecord, "gpuTypeIds" | "anyGpuType" | "excludedGpuTypeIds">> {
  const excluded = new Set(choice.excludedTypes);
  return {
    gpuTypeIds: choice.pools.flatMap((pool) => (pools.get(pool) ?? [pool]).filter((type) => !excluded.has(type))),
    anyGpuType: choice.pools.length === 0 || [...pools.keys()].every((pool) => choice.pools.includes(pool)),
    excludedGpuTypeIds: choice.excludedTypes,
  };
}

import { isDeepStrictEqual } from "node:util";
import { cpuFlavors, gpuTypes } from "serverless-compute-api/catalog";
import { defaultCpu, showValue } from "serverless-compute-api/shapes";
import { invalidProperty, type ObjectKind } from "../errors";

/** Throws a ServiceError for the first id that is not in the catalog; `of` is the kind of object that has the property. */
export function requireListed(
  property: string,
  ids: readonly unknown[],
  listed: readonly string[],
  of?: ObjectKind,
): void {
  const unknown = ids.find((id) => !listed.some((one) => one === id));
  if (unknown === undefined) return;
  throw invalidProperty(property, `${showValue(unknown)} is not allowed; must be one of ${listed.join(", ")}`, of);
}

/**
 * Price of a flex worker with one GPU, US dollars per second, by pool, from the public price list of serverless endpoints in November
 * 2026. Prices change, and local workers are free; the prices are for programs that select by price. Pools missing from the list have none.
 */
const pricePerSecond: Partial<Record<string, number>> = {
  AMPERE_16: 0.00016,
  AMPERE_24: 0.00019,
  ADA_24: 0.00031,
  AMPERE_48: 0.00034,
  ADA_48_PRO: 0.00053,
  AMPERE_80: 0.00076,
  ADA_80_PRO: 0.00116,
  HOPPER_141: 0.00155,
  BLACKWELL_180: 0.0024,
};

/** Price of a worker with one GPU of a pool, US dollars per hour; null if the price list has none. */
export function pricePerHour(pool = ""): number | null {
  const price = pricePerSecond[pool];
  return price === undefined ? null : Math.round(price * 3600 * 1000) / 1000;
}

/** Maximum numbers of GPUs and virtual CPUs per worker. */
export const maxPerWorker = { gpus: 8, vcpus: 32 } as const;

/** CUDA versions of machines with a GPU type; none for AMD GPUs. */
export const cudaVersionsOf = ({ manufacturer }: { manufacturer: string }): string[] =>
  manufacturer === "AMD" ? [] : ["11.8", "12.1", "12.4", "12.6", "12.8", "13.0"];

/** The country code of a data centre, from an id such as EU-RO-1 or US-TX-3. */
export function countryOf(dataCenterId: string): string {
  const [area = "", country = ""] = dataCenterId.split("-");
  return area === "US" || area === "CA" ? area : country;
}

/** GPU pools with the ids of their GPU types. */
export const gpuPools = [...new Set(gpuTypes.flatMap(({ pool }) => pool ?? []))].map((id) => ({
  id,
  gpuTypeIds: gpuTypes.filter(({ pool }) => pool === id).map((type) => type.id),
}));

/** The id of a CPU instance, with the flavour's memory in GB, such as `cpu3c-8-16`. */
export function instanceId(flavor: string, vcpuCount: number): string {
  const { ramMultiplier = 2 } = cpuFlavors.find(({ id }) => id === flavor) ?? {};
  return `${flavor}-${vcpuCount}-${ramMultiplier * vcpuCount}`;
}

/** Flavour, virtual CPUs and memory (GB) of an instance; clients may omit the end of its id. */
export function instanceOf(id: string): { flavor: string; vcpuCount: number; memory: number } {
  const [flavor = "", ...numbers] = id.split("-");
  const [vcpuCount, memory] = numbers.map(Number);
  if (!vcpuCount) return instanceOf(instanceId(flavor, defaultCpu.vcpuCount));
  return memory ? { flavor, vcpuCount, memory } : instanceOf(instanceId(flavor, vcpuCount));
}

/** The first id of each instance; `cpu3c-2` and `cpu3c-2-4` are the same instance. */
function withoutRepetitions(ids: readonly string[]): string[] {
  const byInstance = new Map<string, string>();
  for (const id of ids) {
    const { flavor, vcpuCount, memory } = instanceOf(id);
    const instance = `${flavor}-${vcpuCount}-${memory}`;
    if (!byInstance.has(instance)) byInstance.set(instance, id);
  }
  return [...byInstance.values()];
}

/**
 * Instance ids without repetitions, for the two settings of REST v1. An undefined setting keeps its part of `current`; without `current`,
 * the default flavour and number apply.
 */
export function instanceIdsOf(
  current: readonly string[],
  { cpuFlavorIds, vcpuCount }: { cpuFlavorIds?: string[] | undefined; vcpuCount?: number | undefined },
): string[] {
  if (!cpuFlavorIds && vcpuCount === undefined && current.length > 0) return withoutRepetitions(current);
  const instances = current.map(instanceOf);
  const flavors = cpuFlavorIds ?? instances.map(({ flavor }) => flavor);
  const count = vcpuCount ?? instances[0]?.vcpuCount ?? defaultCpu.vcpuCount;
  return [...new Set(flavors.length > 0 ? flavors : [defaultCpu.flavorId])].map((flavor) => instanceId(flavor, count));
}

/** Words of a comma-separated text, trimmed. */
export const splitList = (text: string | null | undefined): string[] =>
  (text ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

/** The pools and single types of GraphQL's `gpuIds`, and the types that it excludes. */
export function readGpuIds(gpuIds: string): { included: string[]; excluded: string[] } {
  const words = splitList(gpuIds);
  return {
    included: words.filter((word) => !word.startsWith("-")),
    excluded: words.filter((word) => word.startsWith("-")).map((word) => word.slice(1).trim()),
  };
}

/**
 * GPU types of GraphQL's `gpuIds`: pools and single types by priority; "-TYPE" excludes a type, of all pools if only types are excluded. An
 * unknown pool name counts as a type.
 */
export function gpuTypesOf(gpuIds: string): string[] {
  const { included, excluded } = readGpuIds(gpuIds);
  const pools = included.length === 0 && excluded.length > 0 ? gpuPools.map(({ id }) => id) : included;
  const types = pools.flatMap((word) => gpuPools.find(({ id }) => id === word)?.gpuTypeIds ?? [word]);
  return [...new Set(types)].filter((type) => !excluded.includes(type));
}

/** The `gpuIds` of an endpoint, unchanged unless `gpuTypeIds` has been set since. */
export const shownGpuIds = ({ gpuIds, gpuTypeIds }: { gpuIds?: string | undefined; gpuTypeIds: string[] }): string =>
  gpuIds !== undefined && isDeepStrictEqual(gpuTypesOf(gpuIds), gpuTypeIds) ? gpuIds : gpuIdsOf(gpuTypeIds);

/** The `gpuIds` for a list of GPU types. */
function gpuIdsOf(gpuTypeIds: readonly string[]): string {
  const words = new Set<string>();
  for (const type of gpuTypeIds) {
    const pool = gpuPools.find((one) => one.gpuTypeIds.includes(type));
    words.add(pool?.id ?? type);
    for (const other of pool?.gpuTypeIds ?? []) if (!gpuTypeIds.includes(other)) words.add(`-${other}`);
  }
  return [...words].join(",");
}

import { isDeepStrictEqual } from "node:util";

/**
 * What the hosted service has, by public lists: GPU types by its documentation, data centres and CPU flavours by what clients
 * knew in 2026. Lists grow, so no rule refuses a name for not being here.
 */

const gpu = (id: string, displayName: string, memoryInGb: number, pool?: string) => ({
  ...{ id, displayName, memoryInGb, pool },
  manufacturer: id.startsWith("AMD ") ? "AMD" : "Nvidia",
});

/** GPU types, and the pools with which GraphQL names those of serverless endpoints, in their order of priority. */
export const gpuTypes = [
  gpu("NVIDIA RTX A4000", "RTX A4000", 16, "AMPERE_16"),
  gpu("NVIDIA RTX A4500", "RTX A4500", 20, "AMPERE_16"),
  gpu("NVIDIA RTX 4000 Ada Generation", "RTX 4000 Ada", 20, "AMPERE_16"),
  gpu("NVIDIA RTX 2000 Ada Generation", "RTX 2000 Ada", 16, "AMPERE_16"),
  gpu("NVIDIA L4", "L4", 24, "AMPERE_24"),
  gpu("NVIDIA RTX A5000", "RTX A5000", 24, "AMPERE_24"),
  gpu("NVIDIA GeForce RTX 3090", "RTX 3090", 24, "AMPERE_24"),
  gpu("NVIDIA GeForce RTX 4090", "RTX 4090", 24, "ADA_24"),
  gpu("NVIDIA GeForce RTX 5090", "RTX 5090", 32, "ADA_32_PRO"),
  gpu("NVIDIA RTX A6000", "RTX A6000", 48, "AMPERE_48"),
  gpu("NVIDIA A40", "A40", 48, "AMPERE_48"),
  gpu("NVIDIA L40", "L40", 48, "ADA_48_PRO"),
  gpu("NVIDIA L40S", "L40S", 48, "ADA_48_PRO"),
  gpu("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada", 48, "ADA_48_PRO"),
  gpu("NVIDIA A100 80GB PCIe", "A100 PCIe", 80, "AMPERE_80"),
  gpu("NVIDIA A100-SXM4-80GB", "A100 SXM", 80, "AMPERE_80"),
  gpu("NVIDIA H100 PCIe", "H100 PCIe", 80, "ADA_80_PRO"),
  gpu("NVIDIA H100 80GB HBM3", "H100 SXM", 80, "ADA_80_PRO"),
  gpu("NVIDIA H100 NVL", "H100 NVL", 94, "ADA_80_PRO"),
  gpu("NVIDIA H200", "H200 SXM", 141, "HOPPER_141"),
  gpu("NVIDIA B200", "B200", 180, "BLACKWELL_180"),
  gpu("AMD Instinct MI300X OAM", "MI300X", 192),
  gpu("NVIDIA A30", "A30", 24),
  gpu("NVIDIA B300 SXM6 AC", "B300", 288),
  gpu("NVIDIA GeForce RTX 3070", "RTX 3070", 8),
  gpu("NVIDIA GeForce RTX 3080", "RTX 3080", 10),
  gpu("NVIDIA GeForce RTX 3080 Ti", "RTX 3080 Ti", 12),
  gpu("NVIDIA GeForce RTX 3090 Ti", "RTX 3090 Ti", 24),
  gpu("NVIDIA GeForce RTX 4070 Ti", "RTX 4070 Ti", 12),
  gpu("NVIDIA GeForce RTX 4080", "RTX 4080", 16),
  gpu("NVIDIA GeForce RTX 4080 SUPER", "RTX 4080 SUPER", 16),
  gpu("NVIDIA GeForce RTX 5080", "RTX 5080", 16),
  gpu("NVIDIA RTX 4000 SFF Ada Generation", "RTX 4000 Ada SFF", 20),
  gpu("NVIDIA RTX 5000 Ada Generation", "RTX 5000 Ada", 32),
  gpu("NVIDIA RTX A2000", "RTX A2000", 6),
  gpu("Tesla V100-FHHL-16GB", "V100 FHHL", 16),
  gpu("Tesla V100-PCIE-16GB", "Tesla V100", 16),
  gpu("Tesla V100-SXM2-16GB", "V100 SXM2", 16),
  gpu("Tesla V100-SXM2-32GB", "V100 SXM2 32GB", 32),
];

/**
 * US dollars for a second of a flex worker with one GPU, by pool: the public price list of serverless endpoints as it was in
 * November 2026. Prices change, and what runs here costs nothing: they are for programs that choose by price. A pool that is
 * not in the list has none.
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

/** US dollars for an hour of a worker with one GPU of a pool, null where the price list has none. */
export function pricePerHour(pool: string | undefined): number | null {
  const price = pool === undefined ? undefined : pricePerSecond[pool];
  return price === undefined ? null : Math.round(price * 3600 * 1000) / 1000;
}

/** The pools with the ids of their types. */
export const gpuPools = [...new Set(gpuTypes.flatMap(({ pool }) => pool ?? []))].map((id) => ({
  id,
  gpuTypeIds: gpuTypes.filter(({ pool }) => pool === id).map((type) => type.id),
}));

/** CPU flavours: `ramMultiplier` is GB of memory for each virtual CPU. */
export const cpuFlavors = ["cpu3", "cpu5"].flatMap((generation) => [
  { id: `${generation}c`, groupName: "Compute-Optimized", ramMultiplier: 2 },
  { id: `${generation}g`, groupName: "General Purpose", ramMultiplier: 4 },
  { id: `${generation}m`, groupName: "Memory-Optimized", ramMultiplier: 8 },
]);

/** Flavour of a CPU endpoint that names none, and its virtual CPUs. */
const usualInstance = { flavor: "cpu3c", vcpuCount: 2 };

/** A CPU instance with the memory of its flavour in GB, such as `cpu3c-8-16`. */
export function instanceId(flavor: string, vcpuCount: number): string {
  const { ramMultiplier = 2 } = cpuFlavors.find(({ id }) => id === flavor) ?? {};
  return `${flavor}-${vcpuCount}-${ramMultiplier * vcpuCount}`;
}

/** Flavour, virtual CPUs and memory in GB of an instance; clients may leave out the end of its id. */
export function instanceOf(id: string): { flavor: string; vcpuCount: number; memory: number } {
  const [flavor = "", ...numbers] = id.split("-");
  const [vcpuCount, memory] = numbers.map(Number);
  if (!vcpuCount) return instanceOf(instanceId(flavor, usualInstance.vcpuCount));
  return memory ? { flavor, vcpuCount, memory } : instanceOf(instanceId(flavor, vcpuCount));
}

/**
 * Instance ids by the two settings of REST v1, each of which keeps its part of `current` where it is undefined. No flavour and no
 * number stand for the usual ones.
 */
export function instanceIdsOf(
  current: readonly string[],
  { cpuFlavorIds, vcpuCount }: { cpuFlavorIds?: string[] | undefined; vcpuCount?: number | undefined },
): string[] {
  if (!cpuFlavorIds && vcpuCount === undefined && current.length > 0) return [...current];
  const instances = current.map(instanceOf);
  const flavors = cpuFlavorIds ?? instances.map(({ flavor }) => flavor);
  const count = vcpuCount ?? instances[0]?.vcpuCount ?? usualInstance.vcpuCount;
  return [...new Set(flavors.length > 0 ? flavors : [usualInstance.flavor])].map((flavor) => instanceId(flavor, count));
}

/** Ids of the data centres by region. */
const dataCenterIds = {
  ASIA: ["AP-IN-1", "AP-JP-1"],
  EUROPE: [
    ...["EU-CZ-1", "EU-FR-1", "EU-NL-1", "EU-RO-1", "EU-SE-1"],
    ...["EUR-IS-1", "EUR-IS-2", "EUR-IS-3", "EUR-IS-4", "EUR-NO-1", "EUR-NO-2"],
  ],
  NORTH_AMERICA: [
    ...["CA-MTL-1", "CA-MTL-2", "CA-MTL-3", "CA-MTL-4", "US-CA-2", "US-CO-1", "US-DE-1", "US-GA-1", "US-GA-2"],
    ...["US-IL-1", "US-KS-2", "US-KS-3", "US-MD-1", "US-MO-1", "US-MO-2", "US-NC-1", "US-NC-2", "US-NE-1", "US-TX-1"],
    ...["US-TX-3", "US-TX-4", "US-WA-1", "US-WA-2"],
  ],
  OCEANIA: ["OC-AU-1"],
};

/** Data centres with their regions. */
export const dataCenters = Object.entries(dataCenterIds).flatMap(([region, ids]) => ids.map((id) => ({ id, region })));

/** Words of a comma-separated text, blanks around them left out. */
export const splitList = (text: string | null | undefined): string[] =>
  (text ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

/**
 * GPU types of GraphQL's `gpuIds`: pools and single types in priority order, "-TYPE" leaves a type out.
 * A name that is no known pool is taken for a type.
 */
export function gpuTypesOf(gpuIds: string): string[] {
  const words = splitList(gpuIds);
  const excluded = new Set(words.filter((word) => word.startsWith("-")).map((word) => word.slice(1)));
  const types = words
    .filter((word) => !word.startsWith("-"))
    .flatMap((word) => gpuPools.find(({ id }) => id === word)?.gpuTypeIds ?? [word]);
  return [...new Set(types)].filter((type) => !excluded.has(type));
}

/** The `gpuIds` of an endpoint: as they were sent, unless its types were changed in another way since. */
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

/**
 * Catalog of the hosted service from public lists: GPU types from its documentation, data centres and CPU flavours that clients
 * used in 2026. Catalogs grow: the provider only warns about an id that is not listed, the local service rejects it.
 */

const gpu = (id: string, displayName: string, memoryInGb: number, pool?: string) => ({
  id,
  displayName,
  memoryInGb,
  pool,
  manufacturer: id.startsWith("AMD ") ? "AMD" : "Nvidia",
});

/** GPU types by priority, with their pools of serverless endpoints, which GraphQL uses as names. */
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

/** Ids of the GPU types by pool. */
export const gpuPools: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  gpuTypes.flatMap(({ pool }) =>
    pool === undefined ? [] : [[pool, gpuTypes.filter((type) => type.pool === pool).map(({ id }) => id)]],
  ),
);

/** CPU flavours; `ramMultiplier` is the memory per virtual CPU, GB. */
export const cpuFlavors = ["cpu3", "cpu5"].flatMap((generation) => [
  { id: `${generation}c`, groupName: "Compute-Optimized", ramMultiplier: 2 },
  { id: `${generation}g`, groupName: "General Purpose", ramMultiplier: 4 },
  { id: `${generation}m`, groupName: "Memory-Optimized", ramMultiplier: 8 },
]);

/** Ids of the data centres by region. */
const dataCentersByRegion = {
  ASIA: ["AP-IN-1", "AP-JP-1"],
  EUROPE: [
    "EU-CZ-1",
    "EU-FR-1",
    "EU-NL-1",
    "EU-RO-1",
    "EU-SE-1",
    "EUR-IS-1",
    "EUR-IS-2",
    "EUR-IS-3",
    "EUR-IS-4",
    "EUR-NO-1",
    "EUR-NO-2",
  ],
  NORTH_AMERICA: [
    "CA-MTL-1",
    "CA-MTL-2",
    "CA-MTL-3",
    "CA-MTL-4",
    "US-CA-2",
    "US-CO-1",
    "US-DE-1",
    "US-GA-1",
    "US-GA-2",
    "US-IL-1",
    "US-KS-2",
    "US-KS-3",
    "US-MD-1",
    "US-MO-1",
    "US-MO-2",
    "US-NC-1",
    "US-NC-2",
    "US-NE-1",
    "US-TX-1",
    "US-TX-3",
    "US-TX-4",
    "US-WA-1",
    "US-WA-2",
  ],
  OCEANIA: ["OC-AU-1"],
};

/** Data centres with their regions. */
export const dataCenters = Object.entries(dataCentersByRegion).flatMap(([region, ids]) =>
  ids.map((id) => ({ id, region })),
);

const idsOf = (list: readonly { id: string }[]): string[] => list.map(({ id }) => id);

/** Ids of the GPU types. */
export const gpuTypeIds = idsOf(gpuTypes);

/** Ids of the CPU flavours. */
export const cpuFlavorIds = idsOf(cpuFlavors);

/** Ids of the data centres. */
export const dataCenterIds = idsOf(dataCenters);

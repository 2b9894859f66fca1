/** GPU types by the pool that GraphQL names them with. The REST API names the types themselves. */
export const gpuPools: readonly { id: string; gpuTypeIds: readonly string[] }[] = [
  {
    id: "AMPERE_16",
    gpuTypeIds: [
      "NVIDIA RTX A4000",
      "NVIDIA RTX A4500",
      "NVIDIA RTX 4000 Ada Generation",
      "NVIDIA RTX 2000 Ada Generation",
    ],
  },
  { id: "AMPERE_24", gpuTypeIds: ["NVIDIA L4", "NVIDIA RTX A5000", "NVIDIA GeForce RTX 3090"] },
  { id: "ADA_24", gpuTypeIds: ["NVIDIA GeForce RTX 4090"] },
  { id: "ADA_32_PRO", gpuTypeIds: ["NVIDIA GeForce RTX 5090"] },
  { id: "AMPERE_48", gpuTypeIds: ["NVIDIA RTX A6000", "NVIDIA A40"] },
  { id: "ADA_48_PRO", gpuTypeIds: ["NVIDIA L40", "NVIDIA L40S", "NVIDIA RTX 6000 Ada Generation"] },
  { id: "AMPERE_80", gpuTypeIds: ["NVIDIA A100 80GB PCIe", "NVIDIA A100-SXM4-80GB"] },
  { id: "ADA_80_PRO", gpuTypeIds: ["NVIDIA H100 PCIe", "NVIDIA H100 80GB HBM3", "NVIDIA H100 NVL"] },
  { id: "HOPPER_141", gpuTypeIds: ["NVIDIA H200"] },
  { id: "BLACKWELL_180", gpuTypeIds: ["NVIDIA B200"] },
];

/** Words of a comma-separated text, blanks around them left out. */
export const splitList = (text: string | null | undefined): string[] =>
  (text ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

/**
 * GPU types of GraphQL's `gpuIds`: pools and single types in priority order, "-TYPE" leaves a type out.
 * A name that is no known pool is taken for a type: the list of GPUs grows.
 */
export function gpuTypesOf(gpuIds: string): string[] {
  const words = splitList(gpuIds);
  const excluded = new Set(words.filter((word) => word.startsWith("-")).map((word) => word.slice(1)));
  const types = words
    .filter((word) => !word.startsWith("-"))
    .flatMap((word) => gpuPools.find(({ id }) => id === word)?.gpuTypeIds ?? [word]);
  return [...new Set(types)].filter((type) => !excluded.has(type));
}

/** The `gpuIds` for a list of GPU types. */
export function gpuIdsOf(gpuTypeIds: readonly string[]): string {
  const words = new Set<string>();
  for (const type of gpuTypeIds) {
    const pool = gpuPools.find((one) => one.gpuTypeIds.includes(type));
    words.add(pool?.id ?? type);
    for (const other of pool?.gpuTypeIds ?? []) if (!gpuTypeIds.includes(other)) words.add(`-${other}`);
  }
  return [...words].join(",");
}

/** Default CPU flavour and number of virtual CPUs of an endpoint. */
export const defaultCpu = { flavorId: "cpu3c", vcpuCount: 2 } as const;

/** A CPU flavour with its virtual CPUs; undefined if the response contains no count. */
interface CpuFlavorCount {
  id: string;
  vcpuCount: number | undefined;
}

/** Flavour and virtual CPUs of an entry of `cpuFlavorIds`: 8 for `cpu5c-8`, `vcpuCount` for `cpu5c`. */
export function cpuFlavorOf<Count>(entry: string, vcpuCount: Count): { id: string; vcpuCount: Count | number } {
  const [, id, count] = /^([^-]+)-(\d+)$/.exec(entry) ?? [];
  return id === undefined ? { id: entry, vcpuCount } : { id, vcpuCount: Number(count) };
}

/** Entry of `cpuFlavorIds` with its count, such as `cpu5c-8`. */
export const cpuFlavorEntry = ({ id, vcpuCount }: CpuFlavorCount): string =>
  vcpuCount === undefined ? id : `${id}-${vcpuCount}`;

/** The two settings of an endpoint with these flavours. Each entry contains its count if the counts differ. */
export function cpuSettingsOf(flavors: readonly CpuFlavorCount[]): {
  cpuFlavorIds: string[];
  vcpuCount: number | undefined;
} {
  const vcpuCount = flavors[0]?.vcpuCount;
  const isUniform = flavors.every((flavor) => flavor.vcpuCount === vcpuCount);
  const entries = flavors.map((flavor) => (isUniform ? flavor.id : cpuFlavorEntry(flavor)));
  return { cpuFlavorIds: [...new Set(entries)], vcpuCount: isUniform ? vcpuCount : undefined };
}

// Generates the catalog page from the local service's catalog.

/** @typedef {{ id: string, displayName: string, memoryInGb: number, manufacturer: string, pool?: string | undefined }} GpuType */
/** @typedef {{ gpuTypes: GpuType[], cpuFlavors: { id: string, groupName: string, ramMultiplier: number }[], dataCenters: { id: string, region: string }[] }} Catalog */

/** @param {string} text */
const code = (text) => `\`${text}\``;

/** @param {string[]} head @param {(string | number)[][]} rows */
const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/**
 * Markdown of the catalog.
 * @param {Catalog} catalog
 */
export function catalogPage({ gpuTypes, cpuFlavors, dataCenters }) {
  const gpus = [...gpuTypes].sort((a, b) => a.memoryInGb - b.memoryInGb || a.id.localeCompare(b.id));
  const regions = [...new Set(dataCenters.map(({ region }) => region))];
  /** @param {string} region */
  const dataCentersOf = (region) =>
    dataCenters.filter((candidate) => candidate.region === region).map(({ id }) => code(id));
  return `# GPU types and data centres

This page lists the ids that programs use for hardware and places. It is generated from the local service's catalog by
\`npm run generate\`; do not edit. These are public lists of 2026. The hosted service
may have more, so the provider only warns about other ids; the local service rejects them. \`getGpuTypes\` and \`getDataCenters\` list the service's current ids.

## GPU types

For \`gpuTypeIds\`, in order of priority. \`pool\` is the group name that older clients use.

${table(
  ["id", "memory in GB", "pool"],
  gpus.map(({ id, memoryInGb, pool }) => [code(id), memoryInGb, pool ? code(pool) : ""]),
)}

## CPU flavours

For \`cpuFlavorIds\` of endpoints with \`computeType: CPU\`.

${table(
  ["id", "group", "GB of memory for each virtual CPU"],
  cpuFlavors.map(({ id, groupName, ramMultiplier }) => [code(id), groupName, ramMultiplier]),
)}

## Data centres

For \`dataCenterId\` of a volume and \`dataCenterIds\` of an endpoint.

${table(
  ["region", "ids"],
  regions.map((region) => [region, dataCentersOf(region).join(" ")]),
)}
`;
}

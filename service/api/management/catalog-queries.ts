import { z } from "zod";
import { ServiceError } from "../../errors";
import { parseV2, queryInteger } from "../../validation";

/** Queries of the catalog. A malformed value returns 422; a missing or conflicting parameter returns 400. */

/** A comma-separated list of values. */
const commaList = <Shape extends z.ZodType<unknown, string>>(item: Shape) =>
  z
    .string()
    .transform((text) => text.split(","))
    .pipe(z.array(item))
    .optional();

const count = (min: number) => queryInteger(min, Number.MAX_SAFE_INTEGER).optional();
const include = commaList(z.enum(["AVAILABILITY"])).refine((list) => list === undefined || list.length === 1, {
  error: "must be AVAILABILITY",
});

const gpuQuery = z.object({
  include,
  product: commaList(z.enum(["POD", "CLUSTER", "SERVERLESS"])),
  count: count(1),
  cloud: z.enum(["SECURE", "COMMUNITY"]).optional(),
  countryCodes: commaList(z.string().regex(/^[A-Z]{2}$/, "two capital letters, such as FR")),
  cudaVersions: commaList(z.string().regex(/^\d+\.\d+$/, "a version such as 12.8")),
  minCudaVersion: z
    .string()
    .regex(/^\d+(\.\d+)?$/, "a version such as 12 or 12.8")
    .optional(),
});
export type GpuQuery = z.output<typeof gpuQuery>;

const cpuQuery = z.object({ include, product: commaList(z.enum(["POD", "SERVERLESS"])), vcpuCount: count(2) });
export type CpuQuery = z.output<typeof cpuQuery>;

const dataCenterInclude = commaList(z.enum(["GPU_AVAILABILITY", "CPU_AVAILABILITY"]));
const regions = [
  ...(["NORTH_AMERICA", "SOUTH_AMERICA", "EUROPE", "ASIA", "MIDDLE_EAST"] as const),
  ...(["AFRICA", "OCEANIA", "ANTARCTICA", "UNKNOWN"] as const),
] as const;
const compliance = [
  ...(["GDPR", "ISO_IEC_27001", "ISO_14001", "PCI_DSS", "HITRUST", "SOC_1_TYPE_2"] as const),
  ...(["SOC_2_TYPE_2", "SOC_3_TYPE_2", "ITAR", "FISMA_HIGH", "HIPAA", "RENEWABLE"] as const),
] as const;
const dataCenterQuery = z.object({
  include: dataCenterInclude,
  regions: commaList(z.enum(regions)),
  networkVolumeTypes: commaList(z.enum(["STANDARD", "HIGH_PERFORMANCE"])),
  compliance: commaList(z.enum(compliance)),
  globalNetwork: z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .optional(),
});
export type DataCenterQuery = z.output<typeof dataCenterQuery>;

/** Availability depends on the product, so `include` and `product` require each other; all other parameters require `include`. */
function checkInclude({ include: includes, ...others }: { include?: unknown; product?: unknown }): void {
  const [name] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (!includes && name) throw new ServiceError("invalid", `${name}: requires include=AVAILABILITY`);
  if (includes && !others.product) throw new ServiceError("invalid", "include: requires product");
}

export function readGpuQuery(rawQuery: unknown): GpuQuery {
  const query = parseV2(gpuQuery, rawQuery);
  checkInclude(query);
  if (query.cudaVersions && query.minCudaVersion !== undefined)
    throw new ServiceError("invalid", "cudaVersions: cannot be combined with minCudaVersion");
  return query;
}

export function readCpuQuery(rawQuery: unknown): CpuQuery {
  const query = parseV2(cpuQuery, rawQuery);
  checkInclude(query);
  if (!Number.isInteger(Math.log2(query.vcpuCount ?? 2)))
    throw new ServiceError("invalid", "vcpuCount: must be a power of two");
  return query;
}

export const readDataCenterQuery = (query: unknown): DataCenterQuery => parseV2(dataCenterQuery, query);

/** The query of a single data centre has no filters. */
export const readDataCenterInclude = (query: unknown): DataCenterQuery =>
  parseV2(z.object({ include: dataCenterInclude }), query);

const templateQuery = z.object({ source: z.enum(["official", "verified", "community"]).default("official") });
export const readTemplateSource = (query: unknown) => parseV2(templateQuery, query).source;

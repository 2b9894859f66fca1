import type { FastifyInstance } from "fastify";
import { cpuFlavors, dataCenters, gpuTypes } from "serverless-compute-api/catalog";
import { notFound } from "../../errors";
import type { Resources } from "../../resources";
import { countryOf, cudaVersionsOf, maxPerWorker, pricePerHour } from "../../resources/catalog";
import type { Stock } from "../../resources/stock";
import {
  type CpuQuery,
  type DataCenterQuery,
  type GpuQuery,
  readCpuQuery,
  readDataCenterInclude,
  readDataCenterQuery,
  readGpuQuery,
  readTemplateSource,
} from "./catalog-queries";
import { lastPage } from "./pages";
import { v2Template } from "./template";

/** Maximum number of public templates in a response. */
const publicTemplates = 100;

type GpuType = (typeof gpuTypes)[number];
type CpuFlavor = (typeof cpuFlavors)[number];
type DataCenter = (typeof dataCenters)[number];

type Level = Stock["level"];

/** The stock of a GPU type or CPU flavour by data centre; empty if no data centre has stock. */
function availabilityIn(id: string, centers: readonly { id: string }[], level: Level) {
  const availability = level(id, idsOf(centers));
  const stockByDataCenter = centers.map((center) => ({
    id: center.id,
    name: center.id,
    availability: level(id, [center.id]),
  }));
  return { availability, ...(availability === "NONE" ? {} : { dataCenters: stockByDataCenter }) };
}

const idsOf = (list: readonly { id: string }[]): string[] => list.map(({ id }) => id);

/** Compares versions numerically; a missing minor version counts as 0. */
function isAtLeast(version: string, minimum: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [minMajor = 0, minMinor = 0] = minimum.split(".").map(Number);
  return major > minMajor || (major === minMajor && minor >= minMinor);
}

/** The stock of a GPU type; serverless endpoints can only use types in pools. */
function gpuStock({ id, pool, ...type }: GpuType, query: GpuQuery, level: Level) {
  const { product = [], count = 1, countryCodes, cudaVersions: exactVersions, minCudaVersion: minimum } = query;
  const supportedVersions = cudaVersionsOf(type);
  const matchingVersions = exactVersions
    ? supportedVersions.filter((version) => exactVersions.includes(version))
    : supportedVersions;
  const isSupported =
    minimum === undefined
      ? !exactVersions || matchingVersions.length > 0
      : matchingVersions.some((version) => isAtLeast(version, minimum));
  const places = dataCenters.filter((center) => countryCodes?.includes(countryOf(center.id)) ?? true);
  const isSold = pool !== undefined || product.some((member) => member !== "SERVERLESS");
  const stock = availabilityIn(id, isSold && isSupported && count <= maxPerWorker.gpus ? places : [], level);
  const available = stock.availability !== "NONE";
  return {
    ...stock,
    ...(matchingVersions.length > 0 && { cudaVersions: matchingVersions.map((version) => ({ version, available })) }),
  };
}

/** A GPU type with the public price of serverless workers, US dollars per hour, and without pod prices. */
function gpuRecord(type: GpuType, query: GpuQuery, level: Level) {
  const { id, displayName: name, pool, memoryInGb: memory, manufacturer } = type;
  const serverless = pricePerHour(pool);
  return {
    id,
    name,
    pool: pool ?? null,
    manufacturer: manufacturer.toUpperCase(),
    memory,
    secure: true,
    community: true,
    maxCount: { secure: maxPerWorker.gpus, community: maxPerWorker.gpus },
    price: { secure: 0, community: 0, ...(serverless === null ? {} : { serverless }) },
    ...(query.include && gpuStock(type, query, level)),
  };
}

/** GPU types available in data centres of the given countries. */
const gpuRecords = (query: GpuQuery, level: Level) =>
  gpuTypes
    .map((type) => gpuRecord(type, query, level))
    .filter((record) => !query.countryCodes || ("dataCenters" in record && record.dataCenters));

/** A CPU flavour; the public price list has no prices for it. */
function cpuRecord({ id, groupName, ramMultiplier }: CpuFlavor, { include, vcpuCount = 2 }: CpuQuery, level: Level) {
  return {
    id,
    name: groupName,
    group: id,
    vcpu: { min: 2, max: maxPerWorker.vcpus },
    ramGbPerVcpu: ramMultiplier,
    price: { securePerVcpu: 0, serverlessPerVcpu: 0 },
    ...(include && availabilityIn(id, vcpuCount <= maxPerWorker.vcpus ? dataCenters : [], level)),
  };
}

const dataCenterRecord = ({ id, region }: DataCenter, { include = [] }: DataCenterQuery, level: Level) => ({
  id,
  name: id,
  region,
  networkVolumeTypes: ["STANDARD", "HIGH_PERFORMANCE"],
  compliance: [],
  globalNetwork: false,
  ...(include.includes("GPU_AVAILABILITY") && {
    gpuAvailability: gpuTypes.map((type) => ({
      id: type.id,
      name: type.displayName,
      availability: level(type.id, [id]),
    })),
  }),
  ...(include.includes("CPU_AVAILABILITY") && {
    cpuAvailability: cpuFlavors.map((flavor) => ({
      id: flavor.id,
      name: flavor.groupName,
      availability: level(flavor.id, [id]),
    })),
  }),
});

/** Data centres; all have both volume types, no certificates and no global network. */
const dataCenterRecords = (query: DataCenterQuery, level: Level) =>
  dataCenters
    .filter(({ region }) => query.regions?.some((member) => member === region) ?? true)
    .filter(() => !query.compliance && query.globalNetwork !== true)
    .map((center) => dataCenterRecord(center, query, level));

/** Finds the member of a catalog list by id; throws a ServiceError if there is none. */
function findMember<Member extends { id: string }>(noun: string, list: readonly Member[], id: string): Member {
  const found = list.find((member) => member.id === id);
  if (!found) throw notFound(noun, id);
  return found;
}

/** The catalog routes of REST v2. */
export function registerCatalogRoutes(
  app: FastifyInstance,
  { templates, stock: { level } }: Pick<Resources, "templates" | "stock">,
): void {
  type Id = { Params: { id: string } };
  app.get("/catalog/gpus", async ({ query }) => ({ gpus: gpuRecords(readGpuQuery(query), level) }));
  app.get<Id>("/catalog/gpus/:id", async ({ params, query: rawQuery }) => {
    const query = readGpuQuery(rawQuery);
    return gpuRecord(findMember("GPU type", gpuTypes, params.id), query, level);
  });
  app.get("/catalog/cpus", async ({ query: rawQuery }) => {
    const query = readCpuQuery(rawQuery);
    return { cpus: cpuFlavors.map((flavor) => cpuRecord(flavor, query, level)) };
  });
  app.get<Id>("/catalog/cpus/:id", async ({ params, query: rawQuery }) => {
    const query = readCpuQuery(rawQuery);
    return cpuRecord(findMember("CPU flavour", cpuFlavors, params.id), query, level);
  });
  app.get("/catalog/datacenters", async ({ query }) => ({
    dataCenters: dataCenterRecords(readDataCenterQuery(query), level),
  }));
  app.get<Id>("/catalog/datacenters/:id", async ({ params, query }) => {
    const include = readDataCenterInclude(query);
    return dataCenterRecord(findMember("data centre", dataCenters, params.id), include, level);
  });
  app.get("/catalog/templates", async ({ query }) => {
    // There are no official or verified templates; the account's public templates count as community templates.
    const matchingTemplates =
      readTemplateSource(query) === "community" ? templates.list().filter(({ isPublic }) => isPublic) : [];
    return { templates: matchingTemplates.slice(0, publicTemplates).map(v2Template), pagination: lastPage };
  });
}

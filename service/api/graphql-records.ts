import { type cpuFlavors, type dataCenters, gpuTypes } from "serverless-compute-api/catalog";
import { saveTemplateInput } from "serverless-compute-api/shapes";
import { z } from "zod";
import { invalidProperty } from "../errors";
import { type AccountSettings, account } from "../resources/account";
import {
  countryOf,
  cudaVersionsOf,
  gpuTypesOf,
  instanceOf,
  maxPerWorker,
  pricePerHour,
  shownGpuIds,
  splitList,
} from "../resources/catalog";
import { type EndpointRow, type EndpointValues, flashBootType } from "../resources/endpoint-table";
import type { SecretRow } from "../resources/secrets";
import type { Stock } from "../resources/stock";
import { withoutNulls } from "../resources/table";
import type { TemplateChanges, TemplateRow } from "../resources/template-table";
import { parseInput } from "../validation";
import { isoTime } from "./responses";

/** A list of variables, parsed to a map. */
const environment = z
  .array(saveTemplateInput.shape.env.element.nullable())
  .transform((entries) => Object.fromEntries(entries.flatMap((entry) => (entry ? [[entry.key, entry.value]] : []))));
const envEntries = (env: Record<string, string>) => Object.entries(env).map(([key, value]) => ({ key, value }));

/** The other fields have the schema's types and no bounds. */
const templateInput = z.looseObject({
  ...saveTemplateInput.shape,
  dockerArgs: saveTemplateInput.shape.dockerArgs.optional(),
  env: environment.optional(),
  category: z.enum(["NVIDIA", "AMD", "CPU", "GPU"]).optional(),
});

/** The new serverless template in the input of saveEndpoint. */
export const newServerlessTemplate = (input: object): TemplateChanges =>
  templateChanges({ volumeInGb: 0, ...withoutNulls(input), id: undefined, isServerless: true }).changes;

/** Reads the input of saveTemplate, which changes the template `id`, or creates a template without `id`. */
export function templateChanges(input: object): { id: string | undefined; changes: TemplateChanges } {
  const { id, ...changes } = parseInput(templateInput, withoutNulls(input));
  return { id: id || undefined, changes };
}

/** Fields that differ from an endpoint's; the others have the schema's types and are checked by the endpoints. */
const endpointInput = z.looseObject({
  id: z.string().optional(),
  type: z.enum(["QB", "LB"]).optional(),
  templateId: z.string().optional(),
  template: z.looseObject({}).optional(),
  gpuIds: z
    .string()
    .refine((text) => !/(?:^|,)\s*-\s*(?:[-,]|$)/.test(text), {
      error: 'must have the id of a GPU type after each "-"',
    })
    .optional(),
  instanceIds: z.array(z.string()).optional(),
  idleTimeout: z.int().default(10),
  locations: z.string().optional(),
  networkVolumeIds: z.array(z.object({ networkVolumeId: z.string() })).optional(),
  executionTimeoutMs: z.int().optional(),
  allowedCudaVersions: z.string().optional(),
  flashBootType: z.enum(["OFF", "FLASHBOOT", "PRIORITY_FLASHBOOT"]).default("OFF"),
  env: environment.default({}),
  modelReferences: z.array(z.string().nullable()).optional(),
});
type EndpointInput = z.output<typeof endpointInput>;

/** Reads the input of saveEndpoint. */
export function readEndpointInput(input: object): EndpointInput {
  const values = parseInput(endpointInput, withoutNulls(input));
  if (values.type === "LB") {
    throw invalidProperty("type", '"LB" is not allowed; must be "QB": this service runs queue-based endpoints');
  }
  return values;
}

/** Endpoint values of saveEndpoint. Fields that GraphQL lacks are kept from `current`; omitted fields are reset. */
export function endpointValues(
  input: EndpointInput,
  templateId: string | undefined,
  current: EndpointRow | undefined,
): EndpointValues {
  const { id, type, template, gpuIds, locations, allowedCudaVersions, flashBootType, ...sharedFields } = input;
  return {
    ...sharedFields,
    templateId,
    computeType: sharedFields.instanceIds?.length ? "CPU" : current?.computeType,
    instanceIds: sharedFields.instanceIds?.length ? sharedFields.instanceIds : current?.instanceIds,
    gpuTypeIds: gpuTypesOf(gpuIds ?? ""),
    gpuIds,
    dataCenterIds: splitList(locations),
    networkVolumeIds: sharedFields.networkVolumeIds?.map(({ networkVolumeId }) => networkVolumeId),
    // Clients send 0 for the default limit.
    executionTimeoutMs: sharedFields.executionTimeoutMs || undefined,
    allowedCudaVersions: splitList(allowedCudaVersions),
    flashboot: flashBootType !== "OFF",
    flashbootPriority: flashBootType === "PRIORITY_FLASHBOOT" || undefined,
    modelReferences: sharedFields.modelReferences?.filter((reference) => reference !== null),
  };
}

/** The account as returned by GraphQL, without costs. */
export const accountRecord = (settings: AccountSettings) => ({
  ...account,
  ...settings,
  clientBalance: 0,
  currentSpendPerHr: 0,
  spendLimit: 0,
});

/** Ports as strings, because clients fail on numbers. */
const portsConfig = z.array(
  z.object({ name: z.string().nullish(), port: z.union([z.string(), z.number().transform(String)]).nullish() }),
);

/** A template as returned by GraphQL. */
export const templateRecord = (template: TemplateRow) => ({
  ...template,
  isRunpod: false,
  env: envEntries(template.env),
  portsConfig: portsConfig.safeParse(template.portsConfig).data,
});

/** An endpoint as returned by GraphQL, without its template and volumes. */
export const endpointRecord = (endpoint: EndpointRow) => ({
  ...endpoint,
  userId: account.id,
  createdAt: isoTime(endpoint.createdAt),
  gpuIds: shownGpuIds(endpoint),
  scalerValue: Math.ceil(endpoint.scalerValue),
  locations: endpoint.dataCenterIds.join(","),
  allowedCudaVersions: endpoint.allowedCudaVersions.join(","),
  flashBootType: flashBootType(endpoint),
  env: envEntries(endpoint.env),
});

/** Stock levels in GraphQL; null without stock. */
const statuses = { NONE: null, LOW: "Low", MEDIUM: "Medium", HIGH: "High" } as const;
type Level = Stock["level"];

/** Availability and pod prices; only prices of serverless workers are known, because there are no pods. */
const available = { secureCloud: true, communityCloud: true, securePrice: 0, communityPrice: 0 };

/** The input of a catalog field; each member can be null. */
type Input<Members> = { input?: { [Name in keyof Members]?: Members[Name] | null } | null };

/** A GPU type as returned by GraphQL. */
export const gpuTypeRecord = (type: (typeof gpuTypes)[number], level: Level) => ({
  ...type,
  ...available,
  secureSpotPrice: 0,
  communitySpotPrice: 0,
  maxGpuCount: maxPerWorker.gpus,
  lowestPrice({ input }: Input<{ gpuCount: number; dataCenterId: string; allowedCudaVersions: (string | null)[] }>) {
    const { gpuCount, dataCenterId, allowedCudaVersions } = input ?? {};
    const isLimited = allowedCudaVersions != null && allowedCudaVersions.length > 0;
    const versions = cudaVersionsOf(type).filter((version) => !isLimited || allowedCudaVersions.includes(version));
    const isAvailable = (gpuCount ?? 1) <= maxPerWorker.gpus && (!isLimited || versions.length > 0);
    const stockStatus = isAvailable ? statuses[level(type.id, dataCenterId ? [dataCenterId] : undefined)] : null;
    const availability = stockStatus === null ? "UNAVAILABLE" : "AVAILABLE";
    return {
      gpuName: type.displayName,
      gpuTypeId: type.id,
      stockStatus,
      minimumBidPrice: 0,
      uninterruptablePrice: pricePerHour(type.pool),
      gpuTypeCudaVersions: versions.map((cudaVersion) => ({ cudaVersion, availability })),
    };
  },
});

/** A CPU flavour as returned by GraphQL; the public price list has no prices for it. */
export const cpuFlavorRecord = (flavor: (typeof cpuFlavors)[number], level: Level) => ({
  ...flavor,
  displayName: flavor.groupName,
  groupId: flavor.id,
  minVcpu: 2,
  maxVcpu: maxPerWorker.vcpus,
  specifics({ input }: Input<{ dataCenterId: string; instanceId: string }>) {
    const { dataCenterId, instanceId } = input ?? {};
    const isAvailable = !instanceId || instanceOf(instanceId).vcpuCount <= maxPerWorker.vcpus;
    const dataCenterIds = dataCenterId ? [dataCenterId] : undefined;
    return { stockStatus: isAvailable ? statuses[level(flavor.id, dataCenterIds)] : null, securePrice: 0, slsPrice: 0 };
  },
});

const countries = new Intl.DisplayNames("en", { type: "region" });

/** A data centre as returned by GraphQL, without its GPU types. */
export const dataCenterRecord = (center: (typeof dataCenters)[number]) => ({
  ...center,
  name: center.id,
  location: countries.of(countryOf(center.id)),
  listed: true,
  storageSupport: true,
  globalNetwork: false,
  compliance: [],
});

/** GPU availability in a data centre. */
export const gpuAvailability = (dataCenterId: string, level: Level) =>
  gpuTypes.map(({ id, displayName }) => {
    const stockStatus = statuses[level(id, [dataCenterId])];
    return {
      gpuTypeId: id,
      displayName,
      gpuTypeDisplayName: displayName,
      available: stockStatus !== null,
      stockStatus,
    };
  });

/** A secret as returned by GraphQL, without its value. */
export const secretRecord = (secret: SecretRow) => ({
  ...secret,
  createdAt: isoTime(secret.createdAt),
  updatedAt: isoTime(secret.updatedAt),
});

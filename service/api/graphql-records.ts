import { saveTemplateInput } from "serverless-compute-api/shapes";
import { z } from "zod";
import { ServiceError } from "../errors";
import { type AccountSettings, account } from "../resources/account";
import {
  type cpuFlavors,
  type dataCenters,
  gpuTypes,
  gpuTypesOf,
  pricePerHour,
  shownGpuIds,
  splitList,
} from "../resources/catalog";
import type { EndpointRow, EndpointValues } from "../resources/endpoints";
import type { SecretRow } from "../resources/secrets";
import type { TemplateChanges, TemplateRow } from "../resources/templates";
import { parseInput } from "../validation";

/** Seconds that an idle worker stays up where saveEndpoint has none; REST has a default of its own. */
const idleTimeout = 10;

/** GraphQL clients send null for a field that they leave out. */
const maybe = <Shape extends z.ZodType>(shape: Shape) => shape.nullish().transform((value) => value ?? undefined);

const shape = saveTemplateInput.shape;
const templateInput = z.object({
  ...shape,
  id: maybe(shape.id),
  imageName: maybe(shape.imageName),
  dockerArgs: maybe(shape.dockerArgs),
  env: maybe(z.array(shape.env.element.nullable())),
  ports: maybe(shape.ports),
  readme: maybe(shape.readme),
  volumeMountPath: maybe(shape.volumeMountPath),
  isServerless: maybe(shape.isServerless),
  isPublic: maybe(z.boolean()),
  category: maybe(z.enum(["NVIDIA", "AMD", "CPU", "GPU"])),
  containerRegistryAuthId: maybe(shape.containerRegistryAuthId),
  startJupyter: maybe(z.boolean()),
  startSsh: maybe(z.boolean()),
  startScript: maybe(z.string()),
  advancedStart: maybe(z.boolean()),
  portsConfig: maybe(z.unknown()),
  config: maybe(z.unknown()),
});

type EnvEntries = readonly ({ key: string; value: string } | null)[];
const envFromEntries = (entries: EnvEntries): Record<string, string> =>
  Object.fromEntries(entries.flatMap((entry) => (entry ? [[entry.key, entry.value]] : [])));
const envEntries = (env: Record<string, string>) => Object.entries(env).map(([key, value]) => ({ key, value }));

/** The template inside the input of saveEndpoint: a new serverless one. */
export const newServerlessTemplate = (input: object): TemplateChanges =>
  templateChanges({ volumeInGb: 0, ...input, id: undefined, isServerless: true }).changes;

/** The input of saveTemplate: it changes the template `id`, or creates one without it. */
export function templateChanges(input: unknown): { id: string | undefined; changes: TemplateChanges } {
  const { id, env, ...same } = parseInput(templateInput, input);
  return { id: id || undefined, changes: { ...same, env: env && envFromEntries(env) } };
}

const endpointInput = z.object({
  id: maybe(z.string()),
  name: z.string(),
  type: maybe(z.enum(["QB", "LB"])),
  templateId: maybe(z.string()),
  template: maybe(z.looseObject({})),
  gpuIds: maybe(z.string()),
  gpuCount: maybe(z.int()),
  instanceIds: maybe(z.array(z.string())),
  workersMin: maybe(z.int()),
  workersMax: maybe(z.int()),
  workersPFBTarget: maybe(z.int()),
  idleTimeout: maybe(z.int()),
  scalerType: maybe(z.string()),
  scalerValue: maybe(z.int()),
  locations: maybe(z.string()),
  networkVolumeId: maybe(z.string()),
  networkVolumeIds: maybe(z.array(z.object({ networkVolumeId: z.string() }))),
  executionTimeoutMs: maybe(z.int()),
  allowedCudaVersions: maybe(z.string()),
  minCudaVersion: maybe(z.string()),
  flashBootType: maybe(z.enum(["OFF", "FLASHBOOT", "PRIORITY_FLASHBOOT"])),
  flashEnvironmentId: maybe(z.string()),
  env: maybe(z.array(shape.env.element.nullable())),
  modelReferences: maybe(z.array(z.string().nullable())),
});
export type EndpointInput = z.output<typeof endpointInput>;

/** Reads the input of saveEndpoint. */
export function readEndpointInput(input: unknown): EndpointInput {
  const read = parseInput(endpointInput, input);
  if (read.type === "LB") {
    throw new ServiceError(
      "invalid",
      `type: "LB" is not allowed, must be "QB": this service runs queue-based endpoints`,
    );
  }
  return read;
}

/** An endpoint's values by saveEndpoint. What GraphQL has no field for stays as in `current`, all else is reset. */
export function endpointValues(
  input: EndpointInput,
  templateId: string | undefined,
  current: EndpointRow | undefined,
): EndpointValues {
  const { id, type, template, gpuIds, locations, allowedCudaVersions, flashBootType = "OFF", env, ...same } = input;
  return {
    ...same,
    templateId,
    computeType: same.instanceIds?.length ? "CPU" : current?.computeType,
    cpuFlavorIds: current?.cpuFlavorIds,
    vcpuCount: current?.vcpuCount,
    gpuTypeIds: gpuTypesOf(gpuIds ?? ""),
    gpuIds,
    idleTimeout: same.idleTimeout ?? idleTimeout,
    dataCenterIds: splitList(locations),
    networkVolumeIds: same.networkVolumeIds?.map(({ networkVolumeId }) => networkVolumeId),
    // Clients write 0 for "no limit of its own".
    executionTimeoutMs: same.executionTimeoutMs || undefined,
    allowedCudaVersions: splitList(allowedCudaVersions),
    flashboot: flashBootType !== "OFF",
    flashbootPriority: flashBootType === "PRIORITY_FLASHBOOT" || undefined,
    env: envFromEntries(env ?? []),
    modelReferences: same.modelReferences?.filter((reference) => reference !== null),
  };
}

/** The account; nothing here costs anything. */
export const accountRecord = (settings: AccountSettings) => ({
  ...account,
  ...settings,
  ...{ clientBalance: 0, currentSpendPerHr: 0, spendLimit: 0 },
});

/** Clients fail on a port that is a number. */
const portsConfig = z.array(
  z.object({ name: z.string().nullish(), port: z.union([z.string(), z.number().transform(String)]).nullish() }),
);

/** A template as GraphQL shows it. */
export const templateRecord = (template: TemplateRow) => ({
  ...template,
  isRunpod: false,
  env: envEntries(template.env),
  portsConfig: portsConfig.safeParse(template.portsConfig).data,
});

const flashBootType = ({ flashboot, flashbootPriority }: EndpointRow): string => {
  if (!flashboot) return "OFF";
  return flashbootPriority ? "PRIORITY_FLASHBOOT" : "FLASHBOOT";
};

/** An endpoint as GraphQL shows it, without its template and volumes. */
export const endpointRecord = (endpoint: EndpointRow) => ({
  ...endpoint,
  userId: account.id,
  createdAt: time(endpoint.createdAt),
  gpuIds: shownGpuIds(endpoint),
  scalerValue: Math.ceil(endpoint.scalerValue),
  locations: endpoint.dataCenterIds.join(","),
  allowedCudaVersions: endpoint.allowedCudaVersions.join(","),
  flashBootType: flashBootType(endpoint),
  env: envEntries(endpoint.env),
});

/** Everything in the catalog is there. Of its prices only those of serverless workers are known; there are no pods. */
const stockStatus = "High";
const available = { secureCloud: true, communityCloud: true, securePrice: 0, communityPrice: 0 };

/** A GPU type as GraphQL shows it. */
export const gpuTypeRecord = (type: (typeof gpuTypes)[number]) => ({
  ...type,
  ...available,
  ...{ secureSpotPrice: 0, communitySpotPrice: 0 },
  lowestPrice: { minimumBidPrice: 0, uninterruptablePrice: pricePerHour(type.pool), stockStatus },
});

/** A CPU flavour as GraphQL shows it. */
export const cpuFlavorRecord = (flavor: (typeof cpuFlavors)[number]) => ({
  ...flavor,
  displayName: flavor.groupName,
  groupId: flavor.id,
  ...{ minVcpu: 2, maxVcpu: 32 },
});

/** A data centre as GraphQL shows it, without its GPU types. */
export const dataCenterRecord = (center: (typeof dataCenters)[number]) => ({
  ...center,
  name: center.id,
  ...{ listed: true, storageSupport: true, globalNetwork: false, compliance: [] },
});

/** What each data centre has. */
export const gpuAvailability = gpuTypes.map(({ id, displayName }) => ({
  ...{ gpuTypeId: id, gpuTypeDisplayName: displayName, available: true, stockStatus },
}));

/** A secret as GraphQL shows it, never with its value. */
export const secretRecord = (secret: SecretRow) => ({
  ...secret,
  createdAt: time(secret.createdAt),
  updatedAt: time(secret.updatedAt),
});

const time = (ms: number): string => new Date(ms).toISOString();

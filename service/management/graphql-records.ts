import { saveTemplateInput } from "serverless-compute-api/shapes";
import { z } from "zod";
import { ServiceError } from "../errors";
import type { EndpointRow } from "../store/endpoints";
import type { SecretRow } from "../store/secrets";
import type { TemplateRow } from "../store/templates";
import { parseInput } from "../validation";
import type { EndpointValues } from "./endpoints";
import { gpuIdsOf, gpuTypesOf, splitList } from "./gpu-pools";
import { account } from "./management";
import type { TemplateChanges } from "./templates";

/** Seconds that an idle worker stays up where saveEndpoint says nothing; REST has a default of its own. */
const idleTimeout = 10;

/** GraphQL clients send null for "nothing said". */
const said = <Shape extends z.ZodType>(shape: Shape) => shape.nullish().transform((value) => value ?? undefined);

const shape = saveTemplateInput.shape;
const templateInput = z.object({
  ...shape,
  id: said(shape.id),
  imageName: said(shape.imageName),
  dockerArgs: said(shape.dockerArgs),
  env: said(z.array(shape.env.element.nullable())),
  ports: said(shape.ports),
  readme: said(shape.readme),
  volumeMountPath: said(shape.volumeMountPath),
  isServerless: said(shape.isServerless),
  isPublic: said(z.boolean()),
  category: said(z.enum(["NVIDIA", "AMD", "CPU"])),
  containerRegistryAuthId: said(shape.containerRegistryAuthId),
  startJupyter: said(z.boolean()),
  startSsh: said(z.boolean()),
  startScript: said(z.string()),
  advancedStart: said(z.boolean()),
  portsConfig: said(z.unknown()),
  config: said(z.unknown()),
});

type EnvEntries = readonly ({ key: string; value: string } | null)[];
const envFromEntries = (entries: EnvEntries): Record<string, string> =>
  Object.fromEntries(entries.flatMap((entry) => (entry ? [[entry.key, entry.value]] : [])));
const envEntries = (env: Record<string, string>) => Object.entries(env).map(([key, value]) => ({ key, value }));

/** What saveTemplate is to do: change the template `id`, or create one without it. */
export function templateFromGraphql(input: unknown): { id: string | undefined; values: TemplateChanges } {
  const { id, env, ...same } = parseInput(templateInput, input);
  return { id: id || undefined, values: { ...same, env: env && envFromEntries(env) } };
}

const endpointInput = z.object({
  id: said(z.string()),
  name: z.string(),
  type: said(z.enum(["QB", "LB"])),
  templateId: said(z.string()),
  template: said(z.unknown()),
  gpuIds: said(z.string()),
  gpuCount: said(z.int()),
  instanceIds: said(z.array(z.string())),
  workersMin: said(z.int()),
  workersMax: said(z.int()),
  idleTimeout: said(z.int()),
  scalerType: said(z.string()),
  scalerValue: said(z.int()),
  locations: said(z.string()),
  networkVolumeId: said(z.string()),
  networkVolumeIds: said(z.array(z.object({ networkVolumeId: z.string() }))),
  executionTimeoutMs: said(z.int()),
  allowedCudaVersions: said(z.string()),
  minCudaVersion: said(z.string()),
  flashBootType: said(z.enum(["OFF", "FLASHBOOT"])),
  env: said(z.array(shape.env.element.nullable())),
  modelReferences: said(z.array(z.string())),
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

/** The rules' values of saveEndpoint. What GraphQL cannot say stays as in `current`, all else is reset. */
export function endpointFromGraphql(
  input: EndpointInput,
  templateId: string | undefined,
  current: EndpointRow | undefined,
): EndpointValues {
  const { id, type, template, gpuIds, locations, allowedCudaVersions, flashBootType, env, ...same } = input;
  return {
    ...same,
    templateId,
    computeType: same.instanceIds?.length ? "CPU" : current?.computeType,
    cpuFlavorIds: current?.cpuFlavorIds,
    vcpuCount: current?.vcpuCount,
    gpuTypeIds: gpuTypesOf(gpuIds ?? ""),
    idleTimeout: same.idleTimeout ?? idleTimeout,
    dataCenterIds: splitList(locations),
    networkVolumeIds: same.networkVolumeIds?.map(({ networkVolumeId }) => networkVolumeId),
    // Clients write 0 for "no limit of its own".
    executionTimeoutMs: same.executionTimeoutMs || undefined,
    allowedCudaVersions: splitList(allowedCudaVersions),
    flashboot: flashBootType === "FLASHBOOT",
    env: envFromEntries(env ?? []),
  };
}

/** A template as GraphQL tells it. */
export const templateAnswer = (template: TemplateRow) => ({ ...template, env: envEntries(template.env) });

/** An endpoint as GraphQL tells it; its template and volume are looked up when asked for. */
export const endpointAnswer = (endpoint: EndpointRow) => ({
  ...endpoint,
  userId: account.id,
  createdAt: time(endpoint.createdAt),
  type: "QB",
  gpuIds: gpuIdsOf(endpoint.gpuTypeIds),
  locations: endpoint.dataCenterIds.join(","),
  networkVolumeIds: endpoint.networkVolumeIds.map((networkVolumeId) => ({ networkVolumeId })),
  allowedCudaVersions: endpoint.allowedCudaVersions.join(","),
  flashBootType: endpoint.flashboot ? "FLASHBOOT" : "OFF",
  env: envEntries(endpoint.env),
});

/** A secret as GraphQL tells it; it never has a value. */
export const secretAnswer = (secret: SecretRow) => ({
  ...secret,
  createdAt: time(secret.createdAt),
  updatedAt: time(secret.updatedAt),
});

const time = (ms: number): string => new Date(ms).toISOString();

import {
  fromV2Names,
  plainEndpointFields,
  toV2Names,
  type V2Scaling,
  type v2EndpointPatch,
} from "serverless-compute-api/shapes";
import { z } from "zod";
import { invalidProperty } from "../../errors";
import { account } from "../../resources/account";
import { gpuTypesOf, shownGpuIds, splitList } from "../../resources/catalog";
import type { Container } from "../../resources/container";
import { type EndpointRow, type EndpointValues, volumesOf } from "../../resources/endpoint-table";
import { withoutNulls } from "../../resources/table";
import type { TemplateRow } from "../../resources/template-table";
import { parseInput } from "../../validation";
import type { WorkerState } from "../../workers/worker-record";
import { healthPathOf } from "../../workers/worker-server";
import { isoTime, roots } from "../responses";
import { readV2Compute, v2ComputeOf } from "./endpoint-compute";
import {
  graphqlEnvironment,
  graphqlEnvironmentOf,
  type V2Container,
  v1Template,
  v2ContainerChanges,
  v2ContainerOf,
} from "./template";

/** Mapping of endpoints between each API and the resources. */

/** An endpoint as returned by REST v1, with the template and the workers that a query includes. */
export function v1Endpoint(
  endpoint: EndpointRow,
  { template, workers }: { template: TemplateRow | undefined; workers: WorkerState[] },
) {
  return {
    ...endpoint,
    flashboot: endpoint.flashBootType !== "OFF",
    scalerValue: Math.ceil(endpoint.scalerValue),
    createdAt: isoTime(endpoint.createdAt),
    userId: account.id,
    workers: workers.map((worker) => ({ ...worker, startedAt: isoTime(worker.startedAt) })),
    template: template && v1Template(template),
  };
}

/** The container settings of a body of REST v2, as changes of the `current` settings. */
export function readV2Container(body: V2Container, current: TemplateRow | undefined): Container {
  const changes = v2ContainerChanges(body, current);
  const clearedAuth = changes.containerRegistryAuthId === null && { containerRegistryAuthId: undefined };
  return { ...withoutNulls(changes), ...clearedAuth };
}

const scalerValues = (scaling: V2Scaling): EndpointValues =>
  scaling.type === "QUEUE_DELAY"
    ? { scalerType: scaling.type, scalerValue: scaling.queueDelay }
    : { scalerType: scaling.type, scalerValue: scaling.requestCount };

type Body = z.output<typeof v2EndpointPatch>;

/**
 * The endpoint values of a POST or PATCH body of REST v2, without the container. `current` is the endpoint of a PATCH. A new GPU endpoint copies the
 * CUDA versions of its `template` if the body does not constrain them.
 */
export function readV2Endpoint(body: Body, current: EndpointRow | undefined, template?: TemplateRow): EndpointValues {
  const { scaling, networkVolumes, workers, timeout, flashboot } = body;
  const [volume, ...otherVolumes] = networkVolumes ?? [];
  const isConstrained = body.gpu?.allowedCudaVersions !== undefined || body.gpu?.minCudaVersion !== undefined;
  return {
    ...fromV2Names<unknown>(plainEndpointFields, body),
    ...readV2Compute(body, current),
    ...(template && body.gpu && !isConstrained && { allowedCudaVersions: template.allowedCudaVersions }),
    ...(scaling && scalerValues(scaling)),
    // A single volume is stored in the field of REST v1.
    ...(networkVolumes && {
      networkVolumeId: otherVolumes.length === 0 ? (volume ?? null) : null,
      networkVolumeIds: otherVolumes.length === 0 ? [] : networkVolumes,
    }),
    workersMin: workers?.min,
    workersMax: workers?.max,
    idleTimeout: workers?.idleTimeout,
    executionTimeoutMs: timeout === undefined ? undefined : timeout || null,
    flashBootType: flashboot,
  };
}

/** Defaults of a POST in REST v2. */
export const v2EndpointDefaults = { workersMin: 0, workersMax: 3, idleTimeout: 10 } as const;

const scalingOf = ({ scalerType, scalerValue }: EndpointRow): V2Scaling =>
  scalerType === "QUEUE_DELAY"
    ? { type: scalerType, queueDelay: scalerValue }
    : { type: scalerType, requestCount: Math.ceil(scalerValue) };

/** The addresses of an endpoint whose workers have the environment `env`. */
function requestUrls({ id, type }: EndpointRow, env: Record<string, string>, root: string): Record<string, string> {
  if (type === "LB") {
    const base = `${root}${roots.loadBalancers}/${id}`;
    return { base, health: `${base}${healthPathOf(env)}` };
  }
  const base = `${root}${roots.jobs}/${id}`;
  return {
    run: `${base}/run`,
    runSync: `${base}/runsync`,
    status: `${base}/status/{job_id}`,
    stream: `${base}/stream/{job_id}`,
    cancel: `${base}/cancel/{job_id}`,
    retry: `${base}/retry/{job_id}`,
    purgeQueue: `${base}/purge-queue`,
    health: `${base}/health`,
  };
}

/** An endpoint as returned by REST v2: with its container, without its template. `root` is the root of the job API. */
export function v2Endpoint(endpoint: EndpointRow, template: TemplateRow, root: string) {
  const container = v2ContainerOf(template, endpoint.env);
  return {
    id: endpoint.id,
    ...toV2Names<unknown>(plainEndpointFields, { ...endpoint }),
    type: endpoint.type === "LB" ? "LOAD_BALANCER" : "QUEUE",
    requestUrls: requestUrls(endpoint, container.env, root),
    ...container,
    ...v2ComputeOf(endpoint),
    workers: {
      min: endpoint.workersMin,
      max: endpoint.workersMax,
      ...(endpoint.type === "QB" && endpoint.scalerType === "REQUEST_COUNT"
        ? {}
        : { idleTimeout: endpoint.idleTimeout }),
    },
    scaling: scalingOf(endpoint),
    networkVolumes: volumesOf(endpoint),
    // 0 means the service's default.
    timeout: endpoint.executionTimeoutMs ?? 0,
    flashboot: endpoint.flashBootType,
    createdAt: isoTime(endpoint.createdAt),
  };
}

/** Fields that differ from an endpoint's; the others have the schema's types and are checked by the endpoints. */
const graphqlInput = z.looseObject({
  id: z.string().optional(),
  type: z.enum(["QB", "LB"]).optional(),
  templateId: z.string().optional(),
  template: z.looseObject({}).optional(),
  gpuIds: z
    .string()
    .refine((text) => !/(?:^|,)\s*-\s*(?:[-,]|$)/.test(text), {
      error: 'must have the id of a GPU type after each "-"',
    })
    // As REST v2 requires.
    .refine((text) => splitList(text).length === 0 || gpuTypesOf(text).length > 0, {
      error: "must leave at least one GPU type",
    })
    .optional(),
  instanceIds: z.array(z.string()).optional(),
  idleTimeout: z.int().default(10),
  locations: z.string().optional(),
  networkVolumeIds: z.array(z.object({ networkVolumeId: z.string() })).optional(),
  executionTimeoutMs: z.int().optional(),
  allowedCudaVersions: z.string().optional(),
  env: graphqlEnvironment.default({}),
  modelReferences: z.array(z.string().nullable()).optional(),
});
type GraphqlEndpoint = z.output<typeof graphqlInput>;

/** Reads the input of saveEndpoint. */
export function parseGraphqlEndpoint(input: object): GraphqlEndpoint {
  const values = parseInput(graphqlInput, withoutNulls(input));
  if (values.type === "LB" && !values.id)
    throw invalidProperty("type", '"LB" is not allowed; must be "QB"; create load balancing endpoints with REST v2');
  return values;
}

/** Endpoint values of saveEndpoint. Fields that GraphQL lacks are kept from `current`; omitted fields are reset. */
export function readGraphqlEndpoint(
  input: GraphqlEndpoint,
  templateId: string | undefined,
  current: EndpointRow | undefined,
): EndpointValues {
  const { id, template, gpuIds, locations, allowedCudaVersions, ...sharedFields } = input;
  const type = sharedFields.type ?? current?.type;
  return {
    // Load balancing endpoints have no other scaling.
    ...(type === "LB" && { scalerType: "REQUEST_COUNT" }),
    ...sharedFields,
    type,
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
    modelReferences: sharedFields.modelReferences?.filter((reference) => reference !== null),
  };
}

/** An endpoint as returned by GraphQL, without its template and volumes. */
export const graphqlEndpoint = (endpoint: EndpointRow) => ({
  ...endpoint,
  userId: account.id,
  createdAt: isoTime(endpoint.createdAt),
  gpuIds: shownGpuIds(endpoint),
  scalerValue: Math.ceil(endpoint.scalerValue),
  locations: endpoint.dataCenterIds.join(","),
  allowedCudaVersions: endpoint.allowedCudaVersions.join(","),
  env: graphqlEnvironmentOf(endpoint.env),
});

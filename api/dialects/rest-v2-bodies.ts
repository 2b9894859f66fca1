import {
  type ContainerSettings,
  cpuFlavorOf,
  type EndpointChanges,
  type EndpointCreate,
  type EndpointRecord,
  type EndpointSettings,
  endpointDefaults,
  inV2,
  limits,
  plainEndpointFields,
  type TemplateSettings,
  templateFields,
  usualCpu,
  type V2EndpointCreate,
  type V2EndpointPatch,
  type V2Scaling,
} from "../shapes";
import type { PoolChoice } from "./gpu-pools";

const portsOf = (ports: string): string[] =>
  ports
    .split(",")
    .map((port) => port.trim())
    .filter((port) => port !== "");

/** Container or template settings with the names and forms of REST v2. */
const containerBody = ({ ports, containerRegistryAuthId, ...same }: TemplateSettings): object =>
  inV2<unknown>(templateFields, {
    ...same,
    ports: ports === undefined ? undefined : portsOf(ports),
    containerRegistryAuthId: containerRegistryAuthId === "" ? null : containerRegistryAuthId,
  });

/** The body that creates a template, or changes it so that its complete settings are `whole`. */
export function templateBody(given: TemplateSettings, whole: TemplateSettings = given): object {
  const { volumeInGb, volumeMountPath, ...same } = given;
  const size = whole.volumeInGb ?? 0;
  const changesMount = size > 0 && (volumeInGb !== undefined || volumeMountPath !== undefined);
  return {
    ...containerBody(same),
    ...(changesMount ? { mounts: { persistent: { size, path: whole.volumeMountPath || "/workspace" } } } : {}),
  };
}

const scalingBody = ({
  scalerType: type = endpointDefaults.scalerType,
  scalerValue: value = endpointDefaults.scalerValue,
}: EndpointSettings): V2Scaling =>
  type === "REQUEST_COUNT" ? { type, requestCount: value } : { type, queueDelay: value };

/** The ids of all volumes without duplicates; `networkVolumeId` comes first. */
const volumesOf = ({ networkVolumeId, networkVolumeIds = [] }: EndpointSettings): string[] => [
  ...new Set([...(networkVolumeId ? [networkVolumeId] : []), ...networkVolumeIds]),
];

const cudaBody = ({ allowedCudaVersions = [], minCudaVersion }: EndpointSettings) => ({
  allowedCudaVersions: [...allowedCudaVersions],
  minCudaVersion: minCudaVersion ?? "",
});

const cpuBody = ({ cpuFlavorIds = [], vcpuCount }: EndpointSettings) =>
  (cpuFlavorIds.length > 0 ? cpuFlavorIds : [usualCpu.flavorId]).map((entry) =>
    cpuFlavorOf(entry, vcpuCount ?? usualCpu.vcpuCount),
  );

const flashbootBody = ({ flashboot, flashbootType }: EndpointSettings) =>
  flashbootType ?? (flashboot ? "FLASHBOOT" : "OFF");

/** The body that creates an endpoint with its own container. `pools` are the pools of its GPU types. */
export function endpointBody(
  given: EndpointCreate,
  container: ContainerSettings,
  pools: PoolChoice | undefined,
): V2EndpointCreate {
  const whole = { ...endpointDefaults, ...given };
  const { allowedCudaVersions, minCudaVersion } = cudaBody(whole);
  return {
    ...inV2<unknown>(plainEndpointFields, whole),
    name: given.name ?? given.templateId,
    type: whole.type ?? "QUEUE",
    ...containerBody(container),
    ...(pools
      ? {
          gpu: {
            ...pools,
            count: whole.gpuCount,
            allowedCudaVersions: allowedCudaVersions.length > 0 ? allowedCudaVersions : undefined,
            minCudaVersion: minCudaVersion || undefined,
          },
        }
      : { cpu: cpuBody(whole) }),
    workers: {
      min: whole.workersMin,
      max: whole.workersMax,
      idleTimeout: hasIdleTimeout(whole) ? whole.idleTimeout : undefined,
    },
    scaling: scalingBody(whole),
    networkVolumes: volumesOf(whole),
    timeout: whole.executionTimeoutMs ?? limits.executionTimeout.default,
    flashboot: flashbootBody(whole),
  };
}

/**
 * Returns whether REST v2 accepts `workers.idleTimeout`: always, except for a queue that scales by REQUEST_COUNT (422, migration notes of
 * 18 August 2026).
 */
export const hasIdleTimeout = ({ type = "QUEUE", scalerType }: Pick<EndpointRecord, "type" | "scalerType">): boolean =>
  type !== "QUEUE" || scalerType !== "REQUEST_COUNT";

/** Returns whether the changes contain any of the settings. */
const has = (changes: EndpointChanges, ...keys: (keyof EndpointChanges)[]): boolean =>
  keys.some((key) => changes[key] !== undefined);

/** A part of a body; undefined if none of its values is set. JSON omits undefined values. */
const unlessEmpty = <Part extends object>(part: Part): Part | undefined =>
  Object.values(part).some((value) => value !== undefined) ? part : undefined;

/**
 * The body that changes an endpoint. Properties that REST v2 combines are taken from `whole`, the complete settings after the changes.
 * `pools` are the pools of its GPU types, if these change.
 */
export function endpointPatch(
  changes: EndpointChanges,
  whole: EndpointChanges & Pick<EndpointSettings, "computeType" | "type">,
  container: ContainerSettings | undefined,
  pools: PoolChoice | undefined,
): V2EndpointPatch {
  // A queue that previously scaled by REQUEST_COUNT has no idle timeout yet.
  const idleTimeout =
    changes.scalerType === undefined ? changes.idleTimeout : (whole.idleTimeout ?? endpointDefaults.idleTimeout);
  const onGpu = whole.computeType !== "CPU";
  const gpu = {
    ...pools,
    count: changes.gpuCount,
    ...(has(changes, "allowedCudaVersions", "minCudaVersion") && cudaBody(whole)),
  };
  const workers = {
    min: changes.workersMin,
    max: changes.workersMax,
    idleTimeout: hasIdleTimeout(whole) ? idleTimeout : undefined,
  };
  return {
    ...inV2<unknown>(plainEndpointFields, changes),
    ...(container && containerBody(container)),
    gpu: onGpu ? unlessEmpty(gpu) : undefined,
    cpu: !onGpu && has(changes, "cpuFlavorIds", "vcpuCount") ? cpuBody(whole) : undefined,
    workers: unlessEmpty(workers),
    scaling: has(changes, "scalerType", "scalerValue") ? scalingBody(whole) : undefined,
    networkVolumes: has(changes, "networkVolumeId", "networkVolumeIds") ? volumesOf(whole) : undefined,
    timeout: changes.executionTimeoutMs === null ? limits.executionTimeout.default : changes.executionTimeoutMs,
    flashboot: has(changes, "flashboot", "flashbootType") ? flashbootBody(whole) : undefined,
  };
}

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

/** Container settings, or settings of a template, as REST v2 names and writes them. */
const containerBody = ({ ports, containerRegistryAuthId, ...same }: TemplateSettings): object =>
  inV2(templateFields, {
    ...same,
    ...(ports === undefined ? {} : { ports: portsOf(ports) }),
    ...(containerRegistryAuthId === undefined ? {} : { containerRegistryAuthId: containerRegistryAuthId || null }),
  });

/** The body that creates a template, or changes it to the settings `whole`. */
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

/** Each volume once: the single one first. */
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

/** The body that makes an endpoint with a container of its own. `pools` are those of its GPU types. */
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
            ...(allowedCudaVersions.length > 0 ? { allowedCudaVersions } : {}),
            ...(minCudaVersion === "" ? {} : { minCudaVersion }),
          },
        }
      : { cpu: cpuBody(whole) }),
    workers: {
      ...{ min: whole.workersMin, max: whole.workersMax },
      ...(hasIdleTimeout(whole) ? { idleTimeout: whole.idleTimeout } : {}),
    },
    scaling: scalingBody(whole),
    networkVolumes: volumesOf(whole),
    timeout: whole.executionTimeoutMs ?? limits.executionTimeout.default,
    flashboot: flashbootBody(whole),
  };
}

/**
 * True where REST v2 accepts `workers.idleTimeout`: everywhere but on a queue that scales by REQUEST_COUNT (422, migration
 * notes of 18 August 2026).
 */
export const hasIdleTimeout = ({ type = "QUEUE", scalerType }: Pick<EndpointRecord, "type" | "scalerType">): boolean =>
  type !== "QUEUE" || scalerType !== "REQUEST_COUNT";

/** Returns true if any of the settings is among the changes. */
const has = (changes: EndpointChanges, ...keys: (keyof EndpointChanges)[]): boolean =>
  keys.some((key) => changes[key] !== undefined);

/**
 * The body that changes an endpoint. What REST v2 carries as one is taken from the `whole`, the settings that the changes
 * lead to. `pools` are those of its GPU types where these change.
 */
export function endpointPatch(
  changes: EndpointChanges,
  whole: EndpointChanges & Pick<EndpointSettings, "computeType" | "type">,
  container: ContainerSettings | undefined,
  pools: PoolChoice | undefined,
): V2EndpointPatch {
  const { workersMin, workersMax, gpuCount } = changes;
  // A queue that scaled by REQUEST_COUNT before has no idle timeout yet.
  const idleTimeout =
    changes.scalerType === undefined ? changes.idleTimeout : (whole.idleTimeout ?? endpointDefaults.idleTimeout);
  const gpu = {
    ...pools,
    ...(gpuCount === undefined ? {} : { count: gpuCount }),
    ...(has(changes, "allowedCudaVersions", "minCudaVersion") ? cudaBody(whole) : {}),
  };
  const workers = {
    ...(workersMin === undefined ? {} : { min: workersMin }),
    ...(workersMax === undefined ? {} : { max: workersMax }),
    ...(idleTimeout === undefined || !hasIdleTimeout(whole) ? {} : { idleTimeout }),
  };
  const onGpu = whole.computeType !== "CPU";
  return {
    ...inV2<unknown>(plainEndpointFields, changes),
    ...(container && containerBody(container)),
    ...(onGpu && Object.keys(gpu).length > 0 ? { gpu } : {}),
    ...(!onGpu && has(changes, "cpuFlavorIds", "vcpuCount") ? { cpu: cpuBody(whole) } : {}),
    ...(Object.keys(workers).length > 0 ? { workers } : {}),
    ...(has(changes, "scalerType", "scalerValue") ? { scaling: scalingBody(whole) } : {}),
    ...(has(changes, "networkVolumeId", "networkVolumeIds") ? { networkVolumes: volumesOf(whole) } : {}),
    ...(changes.executionTimeoutMs === undefined
      ? {}
      : { timeout: changes.executionTimeoutMs ?? limits.executionTimeout.default }),
    ...(has(changes, "flashboot", "flashbootType") ? { flashboot: flashbootBody(whole) } : {}),
  };
}

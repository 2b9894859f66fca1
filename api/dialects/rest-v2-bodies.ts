import {
  cpuFlavorOf,
  defaultCpu,
  defaultMountPath,
  type EndpointChanges,
  type EndpointRecord,
  type EndpointSettings,
  endpointDefaults,
  endpointFields,
  limits,
  namesInV2,
  networkVolumeFields,
  type OwnContainer,
  plainEndpointFields,
  type TemplateSettings,
  templateFields,
  toV2Names,
  type V2EndpointCreate,
  type V2EndpointPatch,
  type V2Scaling,
} from "../shapes";
import type { PoolSelection } from "./gpu-pools";

const portsOf = (ports: string): string[] =>
  ports
    .split(",")
    .map((port) => port.trim())
    .filter((port) => port !== "");

/** Container or template settings with the names and forms of REST v2. */
const containerBody = ({ ports, containerRegistryAuthId, ...rest }: TemplateSettings): object =>
  toV2Names<unknown>(templateFields, {
    ...rest,
    ports: ports === undefined ? undefined : portsOf(ports),
    containerRegistryAuthId: containerRegistryAuthId === "" ? null : containerRegistryAuthId,
  });

/** The body that creates a template, or applies `changes`; `settings` are the complete settings after the changes. */
export function templateBody(changes: TemplateSettings, settings: TemplateSettings = changes): object {
  const { volumeInGb, volumeMountPath, ...rest } = changes;
  const size = settings.volumeInGb ?? 0;
  const changesMount = size > 0 && (volumeInGb !== undefined || volumeMountPath !== undefined);
  return {
    ...containerBody(rest),
    ...(changesMount ? { mounts: { persistent: { size, path: settings.volumeMountPath || defaultMountPath } } } : {}),
  };
}

/** The scaling criterion. A load balancer allows only REQUEST_COUNT (contract: EndpointCreate). */
const scalingBody = ({
  type,
  scalerType = type === "LOAD_BALANCER" ? "REQUEST_COUNT" : endpointDefaults.scalerType,
  scalerValue = endpointDefaults.scalerValue,
}: EndpointSettings): V2Scaling =>
  scalerType === "REQUEST_COUNT"
    ? { type: scalerType, requestCount: scalerValue }
    : { type: scalerType, queueDelay: scalerValue };

/** The ids of all volumes without duplicates; `networkVolumeId` comes first. */
const volumesOf = ({ networkVolumeId, networkVolumeIds = [] }: EndpointSettings): string[] => [
  ...new Set([...(networkVolumeId ? [networkVolumeId] : []), ...networkVolumeIds]),
];

const cudaBody = ({ allowedCudaVersions = [], minCudaVersion }: EndpointSettings) => ({
  allowedCudaVersions: [...allowedCudaVersions],
  minCudaVersion: minCudaVersion ?? "",
});

const cpuBody = ({ cpuFlavorIds = [], vcpuCount }: EndpointSettings) =>
  (cpuFlavorIds.length > 0 ? cpuFlavorIds : [defaultCpu.flavorId]).map((entry) =>
    cpuFlavorOf(entry, vcpuCount ?? defaultCpu.vcpuCount),
  );

const flashbootBody = ({ flashboot, flashbootType }: EndpointSettings) =>
  flashbootType ?? (flashboot ? "FLASHBOOT" : "OFF");

/** The body that creates an endpoint with a container. `pools` are the pools of its GPU types. */
export function endpointBody(
  settings: EndpointSettings,
  container: OwnContainer,
  pools: PoolSelection | undefined,
): V2EndpointCreate {
  const completeSettings = { ...endpointDefaults, ...settings };
  const { allowedCudaVersions, minCudaVersion } = cudaBody(completeSettings);
  return {
    ...toV2Names<unknown>(plainEndpointFields, completeSettings),
    name: settings.name ?? settings.templateId ?? settings.imageName ?? "",
    type: completeSettings.type ?? "QUEUE",
    ...containerBody(container),
    ...(pools
      ? {
          gpu: {
            ...pools,
            count: completeSettings.gpuCount,
            allowedCudaVersions: allowedCudaVersions.length > 0 ? allowedCudaVersions : undefined,
            minCudaVersion: minCudaVersion || undefined,
          },
        }
      : { cpu: cpuBody(completeSettings) }),
    workers: {
      min: completeSettings.workersMin,
      max: completeSettings.workersMax,
      idleTimeout: hasIdleTimeout(completeSettings) ? completeSettings.idleTimeout : undefined,
    },
    scaling: scalingBody(settings),
    networkVolumes: volumesOf(completeSettings),
    timeout: completeSettings.executionTimeoutMs ?? limits.executionTimeout.default,
    flashboot: flashbootBody(completeSettings),
  };
}

/**
 * Returns whether REST v2 accepts `workers.idleTimeout`: always, except for a queue that scales by REQUEST_COUNT (422, migration notes of
 * 18 August 2026).
 */
export const hasIdleTimeout = ({ type = "QUEUE", scalerType }: Pick<EndpointRecord, "type" | "scalerType">): boolean =>
  type !== "QUEUE" || scalerType !== "REQUEST_COUNT";

/** Returns whether the changes contain any of the settings. */
export const hasAny = (changes: EndpointChanges, ...keys: (keyof EndpointChanges)[]): boolean =>
  keys.some((key) => changes[key] !== undefined);

/** A part of a body; undefined if none of its values is set. JSON omits undefined values. */
const undefinedIfEmpty = <Part extends object>(part: Part): Part | undefined =>
  Object.values(part).some((value) => value !== undefined) ? part : undefined;

/**
 * The body that changes an endpoint. Properties that REST v2 combines are taken from `settings`, the complete settings after the changes.
 * `container` are the changed container settings; `pools` are the pools of its GPU types, if these change.
 */
export function endpointPatch(
  changes: EndpointChanges,
  settings: EndpointChanges & Pick<EndpointSettings, "computeType" | "type">,
  container: OwnContainer,
  pools: PoolSelection | undefined,
): V2EndpointPatch {
  // A queue that previously scaled by REQUEST_COUNT has no idle timeout yet.
  const idleTimeout =
    changes.scalerType === undefined ? changes.idleTimeout : (settings.idleTimeout ?? endpointDefaults.idleTimeout);
  const usesGpu = settings.computeType !== "CPU";
  const gpu = {
    ...pools,
    count: changes.gpuCount,
    ...(hasAny(changes, "allowedCudaVersions", "minCudaVersion") && cudaBody(settings)),
  };
  const workers = {
    min: changes.workersMin,
    max: changes.workersMax,
    idleTimeout: hasIdleTimeout(settings) ? idleTimeout : undefined,
  };
  return {
    ...toV2Names<unknown>(plainEndpointFields, changes),
    ...containerBody(container),
    gpu: usesGpu ? undefinedIfEmpty(gpu) : undefined,
    cpu: !usesGpu && hasAny(changes, "cpuFlavorIds", "vcpuCount") ? cpuBody(settings) : undefined,
    workers: undefinedIfEmpty(workers),
    scaling: hasAny(changes, "scalerType", "scalerValue") ? scalingBody(settings) : undefined,
    networkVolumes: hasAny(changes, "networkVolumeId", "networkVolumeIds") ? volumesOf(settings) : undefined,
    timeout: changes.executionTimeoutMs === null ? limits.executionTimeout.default : changes.executionTimeoutMs,
    flashboot: hasAny(changes, "flashboot", "flashbootType") ? flashbootBody(settings) : undefined,
  };
}

/** The names of properties by their paths in bodies; a path precedes that of the object that contains it. */
const propertyNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [templateFields, networkVolumeFields, endpointFields].flatMap((fields) =>
      namesInV2(fields).map(([name, path]) => [path, name]),
    ),
  ),
  "mounts.persistent": "volumeInGb",
  mounts: "volumeInGb",
  cpu: "cpuFlavorIds",
  "scaling.queueDelay": "scalerValue",
  "scaling.requestCount": "scalerValue",
  scaling: "scalerType",
  networkVolumes: "networkVolumeId(s)",
};
const pathPattern = new RegExp(`(?<=^|[:;] )(?:${Object.keys(propertyNames).join("|")})(?=[:.[])`, "g");

/** An error text of the service with the names of properties instead of paths in the body, whose root may be `$`. */
export const withPropertyNames = (text: string): string =>
  text
    .replace(/(?<=^|[:;] )(?:\$\.)?(?:cpu\[\d+\]\.(?=vcpuCount:))?/g, "")
    .replace(pathPattern, (path) => propertyNames[path] ?? path);

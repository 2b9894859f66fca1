import type { EndpointRecord } from "serverless-compute-api";
import { cpuFlavorEntry, cpuFlavorOf } from "serverless-compute-api/shapes";
import { type Properties, stringAt, toProperties, type Value } from "../../engine/values";
import { type CallContext, callOptions } from "../../framework/calls";
import type { Context } from "../../framework/contract";
import type { ObservedObject } from "../../framework/definition";
import { type CompleteRecord, differingKeys, reportedContainer } from "./container";
import { containerKeys, type Inputs, type Outputs } from "./inputs";
import { markAfter, unverifiedKey } from "./rollout-states";

const listIn = (desired: Properties, key: string): Value[] => {
  const value = desired[key];
  return Array.isArray(value) ? value : [];
};

/**
 * Returns the GPU types of an endpoint. REST v2 stores pools. A program without types and pools accepts the types that the service
 * selects.
 */
function gpuTypesOf(
  record: EndpointRecord,
  desired: Properties,
): Pick<ObservedObject<Inputs, Outputs>["inputs"], GpuTypes> {
  const { gpuTypeIds, anyGpuType, excludedGpuTypeIds = [], gpuPools } = record;
  if (anyGpuType === undefined) return selectsPools(desired) ? {} : { gpuTypeIds };
  if (listIn(desired, "gpuPools").length > 0) return { gpuTypeIds: [], gpuPools, excludedGpuTypeIds };
  const types = listIn(desired, "gpuTypeIds");
  const isImport = Object.keys(desired).length === 0;
  const pools = { gpuPools: isImport || desired["gpuTypeIds"] !== undefined ? undefined : gpuPools };
  if (types.length === 0 && (anyGpuType || desired["gpuTypeIds"] !== undefined))
    return { gpuTypeIds: [], excludedGpuTypeIds, ...pools };
  return { gpuTypeIds, excludedGpuTypeIds: [], ...pools };
}
/** Returns true if a program selects its GPU types by pools. */
const selectsPools = (desired: Properties): boolean =>
  listIn(desired, "gpuPools").length + listIn(desired, "excludedGpuTypeIds").length > 0;
type GpuTypes = "gpuTypeIds" | "gpuPools" | "excludedGpuTypeIds";

/** Returns the volumes of an endpoint. The service may report a volume in both properties or only in the list, however it was set. */
function volumesOf(
  { networkVolumeId, networkVolumeIds, unknownKeys = [] }: EndpointRecord,
  desired: Properties,
): Pick<ObservedObject<Inputs, Outputs>["inputs"], "networkVolumeId" | "networkVolumeIds"> {
  const desiredId = desired["networkVolumeId"];
  const desiredIds = listIn(desired, "networkVolumeIds");
  const reportedIds = [...new Set(networkVolumeId ? [networkVolumeId, ...networkVolumeIds] : networkVolumeIds)];
  const listIds = reportedIds.filter((id) => desiredIds.includes(id) || id !== desiredId);
  if (typeof desiredId === "string" && reportedIds.includes(desiredId))
    return { networkVolumeId: desiredId, networkVolumeIds: listIds };
  if (networkVolumeId && reportedIds.length === 1 && desiredIds.length === 0)
    return { networkVolumeId, networkVolumeIds: [] };
  const isListUnreported = unknownKeys.includes("networkVolumeIds");
  if (isListUnreported && (desiredIds.length > 0 || unknownKeys.includes("networkVolumeId"))) return {};
  return { networkVolumeId: undefined, networkVolumeIds: reportedIds };
}

/**
 * Returns the CPU flavours in the program's notation: the virtual CPUs of a flavour are in its entry or in `vcpuCount`. If neither
 * contains them, any number matches.
 */
function cpuOf(
  { cpuFlavorIds, vcpuCount }: Pick<EndpointRecord, "cpuFlavorIds" | "vcpuCount">,
  desired: Properties,
): Pick<ObservedObject<Inputs, Outputs>["inputs"], "cpuFlavorIds" | "vcpuCount"> {
  const desiredEntries = listIn(desired, "cpuFlavorIds");
  const hasCounts = (entry: Value): boolean => typeof entry === "string" && cpuFlavorOf(entry, 0).vcpuCount > 0;
  if (![...desiredEntries, ...cpuFlavorIds].some(hasCounts)) return { cpuFlavorIds, vcpuCount };
  const sharedCount = desired["vcpuCount"];
  const entries = cpuFlavorIds.map((entry) => {
    const flavor = cpuFlavorOf(entry, vcpuCount);
    const fullEntry = cpuFlavorEntry(flavor);
    const isShared = sharedCount === undefined ? desiredEntries.includes(flavor.id) : flavor.vcpuCount === sharedCount;
    return isShared && !desiredEntries.includes(fullEntry) ? flavor.id : fullEntry;
  });
  return { cpuFlavorIds: entries, vcpuCount: typeof sharedCount === "number" ? sharedCount : undefined };
}

/** Returns flashbootType if the program sets it, else both. An import has flashboot if that expresses the value. */
function flashbootOf({ flashboot, flashbootType }: EndpointRecord, desired: Properties): Properties {
  const isImport = Object.keys(desired).length === 0;
  if (isImport) return toProperties(flashbootType === "PRIORITY_FLASHBOOT" ? { flashbootType } : { flashboot });
  const setsType = desired["flashbootType"] !== undefined && flashbootType !== undefined;
  return toProperties(setsType ? { flashbootType } : { flashboot, flashbootType });
}

/** Converts a record to inputs and outputs. */
export function observe(
  record: CompleteRecord,
  desired: Properties,
  context: Pick<Context, "clients">,
): ObservedObject<Inputs, Outputs> {
  const {
    flashboot: _f,
    flashbootType: _t,
    excludedGpuTypeIds: _e,
    gpuTypeIds: _g,
    gpuPools: _p,
    networkVolumeId: _i,
    networkVolumeIds: _n,
    templateId: _id,
    ...rest
  } = record;
  const { minCudaVersion, executionTimeoutMs, unknownKeys = [] } = record;
  const container = reportedContainer(record, desired);
  const inputs: ObservedObject<Inputs, Outputs>["inputs"] = {
    // The properties below may be missing from a record; undefined is kept for them.
    ...toProperties(rest),
    ...container,
    minCudaVersion,
    executionTimeoutMs,
    ...cpuOf(record, desired),
    ...gpuTypesOf(record, desired),
    ...volumesOf(record, desired),
    ...flashbootOf(record, desired),
  };
  for (const key of unknownKeys) if (key !== "networkVolumeId" && key !== "networkVolumeIds") delete inputs[key];
  const { version } = record;
  return {
    inputs,
    outputs: {
      url: urlOf(record, context, desired),
      ...(version === undefined ? {} : { version }),
      ...(unverifiedKey in desired
        ? { [unverifiedKey]: desired[unverifiedKey] }
        : hasOtherContainer(container, desired) && markAfter("drifted")),
    },
  };
}

/** Returns true if the container of an endpoint with `verify` changed outside the stack, or in a deployment that was killed. */
const hasOtherContainer = (reported: object, desired: Properties): boolean => {
  if (!("verify" in desired) || !containerKeys.some((key) => typeof desired[key] === "string")) return false;
  const shown = Object.keys(reported);
  const container = toProperties(reported);
  const known = Object.fromEntries(
    Object.entries(desired).filter(([key]) => !containerKeys.includes(key) || shown.includes(key)),
  );
  return differingKeys(container, known).length > 0;
};

/** Returns the endpoint's address. A response of REST v2 may omit the address of a load balancer, which `state` then contains. */
export function urlOf(
  { id, requestUrl, type }: Pick<EndpointRecord, "id" | "requestUrl"> & { type?: string | undefined },
  { clients }: Pick<Context, "clients">,
  state: Properties = {},
): string {
  const isLoadBalancer = (type ?? state["type"]) === "LOAD_BALANCER";
  return requestUrl ?? (isLoadBalancer ? stringAt(state, "url") : undefined) ?? clients.jobs.url(id);
}

/** Adds the pools if the program selects them and the dialect does not return them. */
export async function withPools(
  record: EndpointRecord,
  desired: Properties,
  context: CallContext,
): Promise<EndpointRecord> {
  const { withPools: addPools } = context.clients.management;
  return addPools && selectsPools(desired) ? addPools(record, callOptions(context)) : record;
}

/** Version of a new endpoint. */
export const firstVersion = 1;

/** Adds the version if the record does not contain it. */
export async function withVersion(
  record: EndpointRecord,
  desired: Properties,
  context: CallContext,
): Promise<EndpointRecord> {
  const knownVersion = desired["version"];
  if (record.version !== undefined || (typeof knownVersion === "number" && knownVersion >= firstVersion)) return record;
  const releases = await context.clients.management.readReleases(record.id, callOptions(context));
  return { ...record, version: releases?.endpointVersion };
}

import type { EndpointRecord } from "serverless-compute-api";
import { jobApiRoot } from "serverless-compute-api/address";
import { cpuFlavorEntry, cpuFlavorOf, limits, usualCpu } from "serverless-compute-api/shapes";
import { callOptions, making } from "../../lifecycle/calls";
import type { Context, Properties, Value } from "../../lifecycle/contract";
import { changesIn, type Update } from "../../lifecycle/create/creation";
import { type Actual, isReplacement } from "../../lifecycle/define";
import { defineObject } from "../../lifecycle/define-object";
import { textOf, toProperties } from "../../lifecycle/properties/values";
import { template, templateWith } from "../template/lifecycle";
import { revisionOf } from "../template/revision";
import { deleteEndpoint } from "./deletion";
import { dialectRules } from "./dialect-rules";
import {
  type Inputs,
  type Outputs,
  resolvedInputs,
  serverlessEndpointInputs,
  serverlessEndpointOutputs,
} from "./inputs";
import { preflight } from "./preflight";
import { inPlaceWarnings, leftToVerify, unverifiedKey } from "./unverified";
import { updateVerified, verifyCreated } from "./verified-update";

const settable = resolvedInputs.omit({ adoptExisting: true }).keyof().options;

/** Returns true if the endpoint uses the job API. */
const isQueue = (type: Value | undefined): boolean => type !== "LOAD_BALANCER";

/** Suffixes that the service may add to the name of an endpoint that starts from a saved state. */
export const nameSuffixes = ["-fb", " -fb"];
/** Removes the suffix that the service may add to a name. */
export const bareName = (name: string): string => name.replace(/ ?-fb$/, "");

/** Defaults of the service. */
const implied = { vcpuCount: usualCpu.vcpuCount, executionTimeoutMs: limits.executionTimeout.default, type: "QUEUE" };

const listIn = (wanted: Properties, key: string): Value[] => {
  const value = wanted[key];
  return Array.isArray(value) ? value : [];
};

/**
 * The GPU types of an endpoint. REST v2 stores pools, which have no order: the wanted types are kept as written if the pools
 * hold exactly these. A program that names no types accepts those that the service chose.
 */
function gpuTypesOf(record: EndpointRecord, wanted: Properties): Pick<Actual<Inputs, Outputs>["inputs"], GpuTypes> {
  const { gpuTypeIds, anyGpuType, excludedGpuTypeIds = [] } = record;
  if (anyGpuType === undefined) return { gpuTypeIds };
  const types = listIn(wanted, "gpuTypeIds");
  if (types.length === 0 && (anyGpuType || wanted["gpuTypeIds"] !== undefined))
    return { gpuTypeIds: [], excludedGpuTypeIds };
  const sameTypes = types.length === gpuTypeIds.length && gpuTypeIds.every((type) => types.includes(type));
  return { gpuTypeIds: sameTypes ? types : gpuTypeIds, excludedGpuTypeIds: [] };
}
type GpuTypes = "gpuTypeIds" | "excludedGpuTypeIds";

/** The volumes of an endpoint. The service may show a volume in both properties, or in the list only, whichever set it. */
function volumesOf(
  { networkVolumeId, networkVolumeIds, unshown = [] }: EndpointRecord,
  wanted: Properties,
): Pick<Actual<Inputs, Outputs>["inputs"], "networkVolumeId" | "networkVolumeIds"> {
  const single = wanted["networkVolumeId"];
  const several = listIn(wanted, "networkVolumeIds");
  const all = [...new Set(networkVolumeId ? [networkVolumeId, ...networkVolumeIds] : networkVolumeIds)];
  const inList = all.filter((id) => several.includes(id) || id !== single);
  if (typeof single === "string" && all.includes(single)) return { networkVolumeId: single, networkVolumeIds: inList };
  if (networkVolumeId && all.length === 1 && several.length === 0) return { networkVolumeId, networkVolumeIds: [] };
  const hidesList = unshown.includes("networkVolumeIds");
  if (hidesList && (several.length > 0 || unshown.includes("networkVolumeId"))) return {};
  return { networkVolumeId: undefined, networkVolumeIds: all };
}

/**
 * CPU flavours as the program writes them: the virtual CPUs of a flavour are in its entry or in `vcpuCount`. If neither contains
 * them, any number matches.
 */
function cpuOf(
  { cpuFlavorIds, vcpuCount }: Pick<EndpointRecord, "cpuFlavorIds" | "vcpuCount">,
  wanted: Properties,
): Pick<Actual<Inputs, Outputs>["inputs"], "cpuFlavorIds" | "vcpuCount"> {
  const written = listIn(wanted, "cpuFlavorIds");
  const hasCounts = (entry: Value): boolean => typeof entry === "string" && cpuFlavorOf(entry, 0).vcpuCount > 0;
  if (![...written, ...cpuFlavorIds].some(hasCounts)) return { cpuFlavorIds, vcpuCount };
  const shared = wanted["vcpuCount"];
  const entries = cpuFlavorIds.map((entry) => {
    const flavor = cpuFlavorOf(entry, vcpuCount);
    const whole = cpuFlavorEntry(flavor);
    const isShared = shared === undefined ? written.includes(flavor.id) : flavor.vcpuCount === shared;
    return isShared && !written.includes(whole) ? flavor.id : whole;
  });
  return { cpuFlavorIds: entries, vcpuCount: typeof shared === "number" ? shared : undefined };
}

/** Returns flashbootType if it is set or required to express the value, else flashboot. */
function flashbootOf({ flashboot, flashbootType }: EndpointRecord, wanted: Properties): Properties {
  const byType = wanted["flashbootType"] !== undefined || flashbootType === "PRIORITY_FLASHBOOT";
  return byType && flashbootType !== undefined ? { flashbootType } : toProperties({ flashboot });
}

function fromRecord(record: EndpointRecord, wanted: Properties, context: Context): Actual<Inputs, Outputs> {
  const {
    flashboot: _f,
    flashbootType: _t,
    excludedGpuTypeIds: _e,
    networkVolumeId: _i,
    networkVolumeIds: _n,
    ...same
  } = record;
  const { templateId, minCudaVersion, executionTimeoutMs, cpuFlavorIds, unshown = [] } = record;
  const inputs: Actual<Inputs, Outputs>["inputs"] = {
    // An absent value is kept for the properties below, which an endpoint may lack.
    ...toProperties(same),
    templateId,
    minCudaVersion,
    executionTimeoutMs,
    ...cpuOf(record, wanted),
    ...gpuTypesOf(record, wanted),
    ...volumesOf(record, wanted),
    ...flashbootOf(record, wanted),
  };
  const usesUsualFlavor =
    listIn(wanted, "cpuFlavorIds").length === 0 && cpuFlavorIds.join() === record.usualCpuFlavorId;
  if (usesUsualFlavor) inputs.cpuFlavorIds = [];
  for (const key of unshown) if (key !== "networkVolumeId" && key !== "networkVolumeIds") delete inputs[key];
  const { version } = record;
  return { inputs, outputs: { url: urlOf(record, context), ...(version === undefined ? {} : { version }) } };
}

/** Returns the endpoint's address. */
const urlOf = (
  { id, requestUrl }: Pick<EndpointRecord, "id" | "requestUrl">,
  { clients }: Pick<Context, "clients">,
): string => requestUrl ?? clients.jobs.url(id);

/** Version of a new endpoint. */
const firstVersion = 1;

/** Adds the version, which a record may lack. */
async function withVersion(record: EndpointRecord, wanted: Properties, context: Context): Promise<EndpointRecord> {
  const known = wanted["version"];
  if (record.version !== undefined || (typeof known === "number" && known >= firstVersion)) return record;
  const releases = await context.clients.management.readReleases(record.id, callOptions(context));
  return { ...record, version: releases?.endpointVersion };
}

/**
 * Adds the template whose settings the workers run. An endpoint with a copy of a template's settings has that template while they
 * are equal, and none after they changed elsewhere. If neither the endpoint nor the state names a template, it is one with equal
 * settings.
 */
async function withTemplate(listed: EndpointRecord, wanted: Properties, context: Context): Promise<EndpointRecord> {
  const wantedId = textOf(wanted, "templateId");
  const { management } = context.clients;
  // In REST v1, only the single record shows that the template is a copy of the wanted one.
  const isOther = !listed.container && wantedId !== undefined && listed.templateId !== wantedId;
  const record = isOther ? ((await management.readEndpoint(listed.id, callOptions(context))) ?? listed) : listed;
  const { container, templateId = wantedId } = record;
  if (!container) return record;
  if (templateId === undefined) return { ...record, templateId: (await templateWith(container, context))?.id };
  const its = await template.reads(context).one(templateId, context);
  if (!its || revisionOf(its) === revisionOf(container)) return { ...record, templateId };
  context.warn(
    `the settings of its workers differ from template "${its.name}"; the next deployment applies the template`,
  );
  return { ...record, templateId: undefined };
}

/** Converts inputs to settings of an endpoint. */
const settingsOf = ({ adoptExisting: _a, verify: _v, ...inputs }: Inputs) => ({
  ...inputs,
  cpuFlavorIds: inputs.cpuFlavorIds ?? [],
  vcpuCount: inputs.vcpuCount ?? null,
  minCudaVersion: inputs.minCudaVersion || null,
  networkVolumeId: inputs.networkVolumeId || null,
  executionTimeoutMs: inputs.executionTimeoutMs ?? null,
});

async function change(id: string, { olds, news, changed }: Update<Inputs>, context: Context): Promise<Outputs> {
  const { jobs, management } = context.clients;
  // The compute type never changes in place.
  const whole = settingsOf(news);
  const { computeType: _c, type: _t, ...settings } = { ...whole, excludedGpuTypeIds: whole.excludedGpuTypeIds ?? [] };
  const changes = changesIn(settings, (key) => changed(key) || (key === "flashboot" && changed("flashbootType")));
  const record =
    Object.keys(changes).length > 0
      ? // Not cancelled, so that the template of its workers stays known.
        await making(context, (options) => management.updateEndpoint(id, changes, { ...options, settings: whole }))
      : undefined;
  const before = typeof olds["version"] === "number" ? olds["version"] : firstVersion;
  const url = typeof olds["url"] === "string" ? olds["url"] : jobs.url(id);
  return { url: record ? urlOf(record, context) : url, version: record?.version ?? before };
}

/** Workers of one template behind their own API root (interface: Endpoint). Names need not be unique. */
export const serverlessEndpoint = defineObject<Inputs, Outputs, EndpointRecord>({
  kind: "ServerlessEndpoint",
  description: "Queues jobs and runs them on workers of a template, whose number follows the scaling rules.",
  inputs: serverlessEndpointInputs,
  resolved: resolvedInputs,
  outputs: serverlessEndpointOutputs,
  // The service also counts changes of the template, so any response may contain a newer version than the state.
  alters: { url: ["type"], version: settable },
  derives: {
    url: ({ type }, { id, serverlessUrl: at }) => (isQueue(type) && id && at ? jobApiRoot(at, id) : undefined),
  },
  warnings: (changes) => [
    ...(isReplacement(changes)
      ? ["replacing an endpoint permanently deletes its configuration, logs and job history"]
      : []),
    ...inPlaceWarnings(changes),
  ],
  implied,
  dialectRules,
  preflight,
  same: { name: (was, is) => bareName(String(was)) === bareName(String(is)) },

  objects: (management) => ({
    list: management.listEndpoints,
    read: management.readEndpoint,
    create: (inputs, options) => management.createEndpoint(settingsOf(inputs), options),
  }),
  fromRecord,
  completeInputs: withTemplate,
  completeOutputs: withVersion,
  made: (_inputs, found, context) => ({ url: urlOf(found, context), version: found.version ?? firstVersion }),
  // Removes the suffix that the service may have added.
  named: (one, { name }) => (nameSuffixes.some((suffix) => one.name === `${name}${suffix}`) ? { ...one, name } : one),
  change,
  prove: verifyCreated,
  update: (id, changes, context) => updateVerified(id, changes, context, change),
  keeps: [unverifiedKey],
  changes: (found, olds, news) => (found.length > 0 ? found : leftToVerify(olds, news)),
  delete: deleteEndpoint,
});

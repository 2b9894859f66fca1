import {
  type CallOptions,
  isApiError,
  type ServerlessEndpointCreate,
  type ServerlessEndpointPatch,
  type ServerlessEndpointRecord,
} from "serverless-compute-api";
import { jobApiRoot } from "serverless-compute-api/address";
import { limits, restEndpointPatch } from "serverless-compute-api/shapes";
import { callOptions } from "../../lifecycle/calls";
import type { Context, Properties, Value } from "../../lifecycle/contract";
import type { Update } from "../../lifecycle/create/creation";
import type { Actual } from "../../lifecycle/define";
import { defineObject } from "../../lifecycle/define-object";
import { deleteIfPresent } from "../../lifecycle/deletion";
import { toProperties } from "../../lifecycle/properties/values";
import {
  type Inputs,
  type Outputs,
  resolvedInputs,
  serverlessEndpointInputs,
  serverlessEndpointOutputs,
} from "./inputs";

const settable = resolvedInputs.omit({ adoptExisting: true }).keyof().options;

/** The service may add a suffix to the name of an endpoint that starts from a saved state. */
const bareName = (name: Value): Value => (typeof name === "string" ? name.replace(/-fb$/, "") : name);

/** What the service uses where nothing is said. */
const implied = { vcpuCount: 2, executionTimeoutMs: limits.executionTimeout.default };

/** Tries of a delete after the workers were scaled to zero, and milliseconds between them. */
const deleteTries = 20;
const deleteInterval = 500;

function fromRecord(
  record: ServerlessEndpointRecord,
  wanted: Properties,
  { clients }: Context,
): Actual<Inputs, Outputs> {
  const { name, templateId, gpuTypeIds, dataCenterIds, allowedCudaVersions, cpuFlavorIds } = record;
  const { vcpuCount, minCudaVersion, networkVolumeId, networkVolumeIds, executionTimeoutMs } = record;
  const { computeType, gpuCount, idleTimeout, flashboot, scalerType, scalerValue, workersMin, workersMax } = record;
  const lists = { gpuTypeIds, dataCenterIds, allowedCudaVersions, cpuFlavorIds };
  const inputs: Actual<Inputs, Outputs>["inputs"] = {
    ...{ name, templateId, ...lists, vcpuCount, minCudaVersion, executionTimeoutMs, networkVolumeId, networkVolumeIds },
    // These always have a value: one that is missing is not shown.
    ...toProperties({ computeType, gpuCount, idleTimeout, flashboot, scalerType, scalerValue, workersMin, workersMax }),
  };
  // A volume may be shown under both names, whichever of them it was given by.
  const wantedList = Array.isArray(wanted["networkVolumeIds"]) ? wanted["networkVolumeIds"] : [];
  const onlyInList = !wanted["networkVolumeId"] && networkVolumeId && wantedList.includes(networkVolumeId);
  const onlySingle = wantedList.length === 0 && networkVolumeIds.join() === networkVolumeId;
  if (onlyInList) delete inputs.networkVolumeId;
  if (onlySingle) delete inputs.networkVolumeIds;
  const url = clients.jobs.url(record.id);
  return { inputs, outputs: { url, ...(record.version === undefined ? {} : { version: record.version }) } };
}

/** The body of a creation: what is empty is left out, and so is what has no meaning for workers without a GPU. */
function bodyOf({
  networkVolumeId,
  minCudaVersion,
  gpuTypeIds,
  gpuCount,
  adoptExisting: _,
  ...others
}: Inputs): ServerlessEndpointCreate {
  const onGpu = others.computeType === "GPU" || gpuTypeIds.length > 0;
  return {
    ...others,
    ...(onGpu ? { gpuTypeIds, gpuCount } : {}),
    ...(networkVolumeId ? { networkVolumeId } : {}),
    ...(minCudaVersion ? { minCudaVersion } : {}),
  };
}

/** The body of an update: only what changed, so that nothing else is touched; null clears. */
function patchOf(news: Inputs, changed: (key: string) => boolean): ServerlessEndpointPatch {
  const whole = {
    ...news,
    networkVolumeId: news.networkVolumeId || null,
    minCudaVersion: news.minCudaVersion || null,
    executionTimeoutMs: news.executionTimeoutMs ?? null,
    cpuFlavorIds: news.cpuFlavorIds ?? [],
    vcpuCount: news.vcpuCount ?? implied.vcpuCount,
  };
  return restEndpointPatch.parse(Object.fromEntries(Object.entries(whole).filter(([key]) => changed(key))));
}

/** Deletes an endpoint; a service that wants it without workers first gets it scaled to 0/0. */
async function deleteEndpoint(id: string, context: Context): Promise<void> {
  const { management } = context.clients;
  let scaled = false;
  for (let tried = 1; ; tried++) {
    try {
      return await deleteIfPresent(id, { remove: management.deleteEndpoint, list: management.listEndpoints }, context);
    } catch (error) {
      if (!isApiError(error, "inUse") || error.code !== "endpoint_has_workers" || tried === deleteTries) throw error;
    }
    context.progress("taking its workers down before the delete");
    if (scaled) await context.clock.sleep(deleteInterval, context.signal);
    else await scaleToZero(id, context);
    scaled = true;
  }
}

async function scaleToZero(id: string, context: Context): Promise<void> {
  try {
    await context.clients.management.updateEndpoint(id, { workersMin: 0, workersMax: 0 }, callOptions(context));
  } catch (error) {
    if (!isApiError(error, "missing")) throw error;
  }
}

async function update(id: string, { olds, news, changed }: Update<Inputs>, context: Context): Promise<Outputs> {
  const { jobs, management } = context.clients;
  const patch = patchOf(news, changed);
  const record =
    Object.keys(patch).length > 0 ? await management.updateEndpoint(id, patch, callOptions(context)) : undefined;
  const before = typeof olds["version"] === "number" ? olds["version"] : 0;
  return { url: jobs.url(id), version: record?.version ?? before };
}

/** Whether it has never had a job. */
async function unused({ id }: ServerlessEndpointRecord, context: Context, options: CallOptions): Promise<boolean> {
  const { jobs } = await context.clients.jobs.health(id, options);
  return jobs.completed + jobs.failed + jobs.inProgress + jobs.inQueue + jobs.retried === 0;
}

/** An endpoint: workers of one template behind an API root of their own (interface: Endpoint). Names need not be unique. */
export const serverlessEndpoint = defineObject<Inputs, Outputs, ServerlessEndpointRecord>({
  kind: "ServerlessEndpoint",
  description: "Queues jobs and runs them on workers made from a template, as many as the scaling rules ask for.",
  inputs: serverlessEndpointInputs,
  resolved: resolvedInputs,
  outputs: serverlessEndpointOutputs,
  // The service counts changes of the template too, so any response may have another version than the state.
  alters: { url: [], version: settable },
  derives: {
    url: (_inputs, { id, serverlessUrl }) => (id && serverlessUrl ? jobApiRoot(serverlessUrl, id) : undefined),
  },
  replaceWarning: () => "replacing an endpoint removes its configuration, logs and job history for good",
  implied,
  same: { name: (was, is) => bareName(was) === bareName(is) },

  objects: (management) => ({
    list: management.listEndpoints,
    read: management.readEndpoint,
    create: (inputs, options) => management.createEndpoint(bodyOf(inputs), options),
  }),
  fromRecord,
  made: (_inputs, { id, version }, { clients }) => ({ url: clients.jobs.url(id), version: version ?? 0 }),
  // The suffix that the service may add is taken off, unless it is the user's own.
  named: (one, { name }) => (one.name === `${name}-fb` ? { ...one, name } : one),
  leftover: { onlyRecent: true, unused },
  sharesNames: true,
  update,
  delete: deleteEndpoint,
});

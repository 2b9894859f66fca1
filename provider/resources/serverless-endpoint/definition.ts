import type { Dialect } from "serverless-compute-api";
import { type Properties, toProperties } from "../../engine/values";
import { completeDespiteCancel } from "../../framework/calls";
import type { Context } from "../../framework/contract";
import { createOnce } from "../../framework/create/create-once";
import { changedSettings, isReplacement, type ObjectDefinition, type Update } from "../../framework/definition";
import { defineObject } from "../../framework/object";
import { outputsOf } from "../../framework/observation";
import { isRecorded } from "../../framework/properties/defaults";
import { endpointReader } from "../template/endpoints";
import { changesSetting } from "../template/start-arguments";
import { type CompleteRecord, containerSettings, withTemplate } from "./container";
import { deleteEndpoint } from "./deletion";
import { validate } from "./dialect-rules";
import {
  checkedInputs,
  type Inputs,
  isContainerKey,
  type Outputs,
  type ServiceOutputs,
  serverlessEndpointInputs,
  serverlessEndpointOutputs,
} from "./inputs";
import { preflight } from "./preflight";
import { firstVersion, observe, urlOf, withPools, withVersion } from "./record";
import { changedSettingNames, derivedSecrets, inPlaceWarnings, markAfter, pendingVerification } from "./rollout-states";
import { updateVerified, verifyCreated } from "./verified-update";

/** Converts inputs to settings of an endpoint. */
const settingsOf = ({ adoptExisting: _a, verify: _v, dockerEntrypoint, dockerStartCmd, ...inputs }: Inputs) => ({
  ...inputs,
  // Absent settings of the container are the template's.
  imageName: undefined,
  containerDiskInGb: undefined,
  dockerArgs: undefined,
  env: undefined,
  ports: undefined,
  containerRegistryAuthId: undefined,
  ...containerSettings({ ...inputs, dockerEntrypoint, dockerStartCmd }),
  cpuFlavorIds: inputs.cpuFlavorIds ?? [],
  vcpuCount: inputs.vcpuCount ?? null,
  minCudaVersion: inputs.minCudaVersion || null,
  networkVolumeId: inputs.networkVolumeId || null,
  executionTimeoutMs: inputs.executionTimeoutMs ?? null,
});

/** Properties that REST v2 combines, or that limit each other. */
const relatedKeys = ["scalerType", "scalerValue", "workersMin", "workersMax", "cpuFlavorIds", "vcpuCount"] as const;

/**
 * The complete settings after an update, from which REST v2 combines properties. They contain related values that the program omits,
 * except those that contradict it, whose names are `reset`.
 */
function settingsAfter(news: Inputs, properties: Properties, dialect: Dialect) {
  const accepted: Properties = {};
  const reset: string[] = [];
  for (const key of relatedKeys) {
    const value = properties[key];
    if (value === undefined || !isRecorded(properties, key)) continue;
    const inputs = toProperties({ ...news, [key]: value });
    const isValid = serverlessEndpointInputs.safeParse(inputs).success && validate(inputs, dialect).length === 0;
    if (isValid) accepted[key] = value;
    else reset.push(key);
  }
  return { reset, allSettings: settingsOf(checkedInputs.parse({ ...news, ...accepted })) };
}

async function applyUpdate(
  id: string,
  { olds, news, properties, changed }: Update<Inputs>,
  context: Context,
): Promise<ServiceOutputs> {
  const { dialect, jobs, management } = context.clients;
  // The compute type never changes in place.
  const { reset, allSettings } = settingsAfter(news, properties, dialect);
  const { computeType: _c, type: _t, ...settings } = { gpuPools: [], excludedGpuTypeIds: [], ...allSettings };
  const replacesContainer = news.templateId === undefined && changed("templateId");
  const hasChanges = changedSettingNames(changed).length > 0;
  const changes = changedSettings(settings, (key) => {
    if (key === "templateId") return news.templateId !== undefined && changed(key);
    if (isContainerKey(key)) return changesSetting(key, changed) || replacesContainer;
    return changed(key) || (hasChanges && reset.includes(key)) || (key === "flashboot" && changed("flashbootType"));
  });
  const record =
    Object.keys(changes).length > 0
      ? // Not cancelled, so that the container remains known.
        await completeDespiteCancel(context, (options) =>
          management.updateEndpoint(id, changes, { ...options, settings: allSettings }),
        )
      : undefined;
  const version = typeof olds["version"] === "number" ? olds["version"] : firstVersion;
  const url = typeof olds["url"] === "string" ? olds["url"] : jobs.url(id);
  return {
    ...(record && outputsOf(endpoints, record, properties, context)),
    url: record ? urlOf(record, context, { type: news.type ?? "QUEUE", url }) : url,
    version: record?.version ?? version,
  };
}

const endpoints: ObjectDefinition<CompleteRecord, Inputs, Outputs> = {
  kind: "ServerlessEndpoint",
  description:
    "Queues jobs and runs them on workers, which have the container of a template or one of their own; the scaling rules determine the number of workers.",
  inputs: serverlessEndpointInputs,
  checkedInputs,
  outputs: serverlessEndpointOutputs,
  plan: ({ changes, olds, news }) => ({
    changes: changes.length > 0 ? changes : pendingVerification(olds, news),
    warnings: [
      ...(isReplacement(changes)
        ? ["replacing an endpoint permanently deletes its configuration, logs and job history"]
        : []),
      ...inPlaceWarnings(changes),
    ],
  }),
  validate,

  client: (management) => ({
    list: management.listEndpoints,
    read: management.readEndpoint,
    create: (inputs, options) => management.createEndpoint(settingsOf(inputs), options),
    delete: management.deleteEndpoint,
  }),
  observe,
  // The versions of all endpoints of an account would be one request for each.
  complete: async (record, desired, context, purpose) => {
    const bound = await withPools(await withTemplate(record, desired, context), desired, context);
    return purpose === "import" ? bound : withVersion(bound, desired, context);
  },
  update: applyUpdate,
  delete: deleteEndpoint,
};

/** Updates an adopted endpoint, which no deployment has verified yet. */
const updateAdopted: typeof endpoints.update = (id, update, context) =>
  updateVerified(id, { ...update, olds: { ...update.olds, ...markAfter("adopted") } }, context, applyUpdate);

/** Endpoint: workers with their own API root (interface: Endpoint). Names need not be unique. */
export const serverlessEndpoint = {
  ...defineObject(endpoints, {
    async create(inputs, context, properties) {
      const { id, outputs } = await createOnce({ ...endpoints, update: updateAdopted }, inputs, properties, context);
      // A record of REST v2 contains no version.
      const created = { id, outputs: { version: firstVersion, ...outputs } };
      if (context.ownedIds.get(created.id) !== "adopted") await verifyCreated(created, inputs, context);
      return created;
    },
    update: (id, update, context) => updateVerified(id, update, context, applyUpdate),
    reader: endpointReader,
  }),
  preflight,
  derivedSecrets,
};

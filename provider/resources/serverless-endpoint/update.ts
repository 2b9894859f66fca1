import type { Dialect } from "serverless-compute-api";
import { type Properties, toProperties } from "../../engine/values";
import { callOptions, completeDespiteCancel } from "../../framework/calls";
import type { Context } from "../../framework/contract";
import { changedSettings, type Update } from "../../framework/definition";
import { outputsOf, pick } from "../../framework/observation";
import { compatibleValues } from "../../framework/properties/compatible";
import { isRecorded } from "../../framework/properties/defaults";
import { changesSetting } from "../template/start-arguments";
import { changedVariables, variablesIn, withChangedVariables } from "../template/variables";
import { containerSettings } from "./container";
import { validate } from "./dialect-rules";
import {
  checkedInputs,
  type Inputs,
  isContainerKey,
  type ServiceOutputs,
  serverlessEndpointInputs,
  serverlessEndpointOutputs,
} from "./inputs";
import { firstVersion, observe, urlOf } from "./record";
import { changedSettingNames } from "./rollout-states";

/** Converts inputs to settings of an endpoint. */
export const settingsOf = ({ adoptExisting: _a, verify: _v, dockerEntrypoint, dockerStartCmd, ...inputs }: Inputs) => ({
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
  const omitted = pick(
    properties,
    relatedKeys.filter((key) => isRecorded(properties, key)),
  );
  const kept = compatibleValues(omitted, (selected) => {
    const inputs = toProperties({ ...news, ...selected });
    return serverlessEndpointInputs.safeParse(inputs).success && validate(inputs, dialect).length === 0;
  });
  const reset = relatedKeys.filter((key) => key in omitted && !(key in kept));
  return { reset, allSettings: settingsOf(checkedInputs.parse({ ...news, ...kept })) };
}

const schemas = { inputs: serverlessEndpointInputs, outputs: serverlessEndpointOutputs, observe };

/** Sends an update without a verification. */
export async function applyUpdate(
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
    return (
      changed(key) ||
      (hasChanges && reset.some((name) => name === key)) ||
      (key === "flashboot" && changed("flashbootType"))
    );
  });
  if (changes.env && !changed("templateId")) {
    const existing = (await management.readEndpoint(id, callOptions(context)))?.container?.env ?? {};
    // With a template, the container has its variables, too.
    const own = Object.entries(existing).filter(([name]) => news.templateId === undefined || name in variablesIn(olds));
    changes.env = withChangedVariables(Object.fromEntries(own), changes.env, changedVariables(olds, changes.env));
    allSettings.env = changes.env;
  }
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
    ...Object.fromEntries(reset.filter((key) => key in changes).map((key) => [key, news[key]])),
    ...(record && outputsOf(schemas, record, properties, context)),
    url: record ? urlOf(record, context, { type: news.type ?? "QUEUE", url }) : url,
    version: record?.version ?? version,
  };
}

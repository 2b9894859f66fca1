import { completeDespiteCancel } from "../../framework/calls";
import type { Context } from "../../framework/contract";
import { changedSettings, type Update } from "../../framework/definition";
import { outputsOf } from "../../framework/observation";
import { changesSetting } from "../template/start-arguments";
import { changedVariables } from "../template/variables";
import { containerSettings } from "./container";
import {
  type Inputs,
  isContainerKey,
  type ServiceOutputs,
  serverlessEndpointInputs,
  serverlessEndpointOutputs,
} from "./inputs";
import { firstVersion, observe, urlOf } from "./record";
import { unverifiedIn } from "./rollout-states";

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

const schemas = { inputs: serverlessEndpointInputs, outputs: serverlessEndpointOutputs, observe };

/** Sends an update without a verification. */
export async function applyUpdate(
  id: string,
  { olds, news, settings: complete, reset, properties, changed }: Update<Inputs>,
  context: Context,
): Promise<ServiceOutputs> {
  const { jobs, management } = context.clients;
  // REST v2 combines properties.
  const allSettings = settingsOf(complete);
  // The compute type never changes in place.
  const { computeType: _c, type: _t, ...settings } = { gpuPools: [], excludedGpuTypeIds: [], ...allSettings };
  const replacesContainer = news.templateId === undefined && changed("templateId");
  const changes = changedSettings(settings, (key) => {
    if (key === "templateId") return news.templateId !== undefined && changed(key);
    if (isContainerKey(key)) return changesSetting(key, changed) || replacesContainer;
    return changed(key) || reset.includes(key) || (key === "flashboot" && changed("flashbootType"));
  });
  // Another container has none of the present variables. A pending update may have set any of them.
  const replacesVariables = changed("templateId") || "env" in (unverifiedIn(olds)?.before ?? {});
  const isChangedVariable = replacesVariables ? undefined : changedVariables(olds, allSettings.env ?? {});
  const record =
    Object.keys(changes).length > 0
      ? // Not cancelled, so that the container remains known.
        await completeDespiteCancel(context, (options) =>
          management.updateEndpoint(id, changes, { ...options, settings: allSettings, isChangedVariable }),
        )
      : undefined;
  const version = typeof olds["version"] === "number" ? olds["version"] : firstVersion;
  const url = typeof olds["url"] === "string" ? olds["url"] : jobs.url(id);
  return {
    ...(record && outputsOf(schemas, record, properties, context)),
    url: record ? urlOf(record, context, { type: news.type ?? "QUEUE", url }) : url,
    version: record?.version ?? version,
  };
}

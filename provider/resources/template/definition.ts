import {
  type Dialect,
  type EndpointRecord,
  isApiError,
  type ManagementClient,
  type TemplateRecord,
} from "serverless-compute-api";
import {
  type ContainerSettings,
  containerOf,
  defaultMountPath,
  minPodVolumeSize,
  withChangedVariables,
  withOwnSettings,
} from "serverless-compute-api/shapes";
import { type Properties, stringAt, toProperties } from "../../engine/values";
import { callOptions } from "../../framework/calls";
import type { Change, Context, Failure } from "../../framework/contract";
import {
  changedSettings,
  isReplacement,
  type ObservedObject,
  type Plan,
  type PlanInput,
  type Update,
} from "../../framework/definition";
import { defineObject } from "../../framework/object";
import { cudaVersionFailures } from "../cuda-versions";
import { endpointsOf } from "./endpoints";
import { checkedInputs, type Inputs, type Outputs, templateContent, templateInputs, templateOutputs } from "./inputs";
import { releaseTemplate } from "./release";
import { revisionOf } from "./revision";
import { changesSetting, startKeys, toStartLists, toStartText } from "./start-arguments";
import { changedVariables } from "./variables";

function observe(record: TemplateRecord, desired: Properties): ObservedObject<Inputs, Outputs> {
  const { dockerArgs, containerRegistryAuthId, unknownKeys = [] } = record;
  const inputs: ObservedObject<Inputs, Outputs>["inputs"] = {
    ...toProperties(record),
    ...toStartLists(dockerArgs, stringAt(desired, "dockerArgs") !== undefined),
    containerRegistryAuthId,
  };
  for (const key of unknownKeys) delete inputs[key];
  // A template created by REST v2 has no mount path.
  if (record.volumeMountPath === "") delete inputs.volumeMountPath;
  return { inputs, outputs: {} };
}

/** Converts inputs to settings of a template. */
const settingsOf = ({
  adoptExisting: _a,
  replaceOnChange: _r,
  dockerEntrypoint,
  dockerStartCmd,
  ...inputs
}: Inputs) => ({
  ...inputs,
  dockerArgs: toStartText({ dockerArgs: inputs.dockerArgs, dockerEntrypoint, dockerStartCmd }),
  volumeInGb: inputs.volumeInGb ?? 0,
  containerRegistryAuthId: inputs.containerRegistryAuthId || null,
});

/**
 * Updates a template in place. The request contains only the changed settings, so all others are preserved. Changes of the
 * workers' content are also sent to the endpoints with a copy of it.
 */
async function update(
  id: string,
  { olds, settings: complete, changed, onApplied }: Update<Inputs>,
  context: Context,
): Promise<Partial<Outputs>> {
  const { management } = context.clients;
  // A volume that the program no longer sets is kept. REST v2 requires its size to change the mount path.
  const keptVolume = typeof olds["volumeInGb"] === "number" ? olds["volumeInGb"] : undefined;
  const settings = {
    allowedCudaVersions: [],
    ...settingsOf({ ...complete, volumeInGb: complete.volumeInGb ?? keptVolume }),
  };
  const changes = changedSettings(settings, (key) => changesSetting(key, changed));
  if (changes.env) {
    const existing = await management.readTemplate(id, callOptions(context));
    changes.env = withChangedVariables(existing?.env ?? {}, changes.env, changedVariables(olds, changes.env));
  }
  if (Object.keys(changes).length > 0) {
    await management.updateTemplate(id, changes, { ...callOptions(context), settings });
    onApplied?.();
  }
  const { updateCopy } = management;
  if (updateCopy && templateContent.some(changed)) {
    const change = { olds, container: containerOf(settings), changed };
    await updateCopies(id, change, updateCopy, context);
  }
  return {};
}

/** A change of a template: the deployed properties, the new container settings, and the differing properties. */
interface ContainerChange extends Pick<Update<Inputs>, "olds" | "changed"> {
  container: ContainerSettings;
}

/**
 * The container of a copy after a change of its template. Only changed settings and variables follow the template: the others may have
 * other values on purpose, such as those that the program of the endpoint ignores. The endpoint's own ones never follow it.
 */
function copyAfter(
  { container: copy, own = {} }: Pick<EndpointRecord, "container" | "own">,
  { olds, container: template, changed }: ContainerChange,
): ContainerSettings {
  if (!copy) return withOwnSettings(template, own);
  const isChanged = changedVariables(olds, template.env);
  const isFollowed = (name: string): boolean => isChanged(name) && own.env?.[name] === undefined;
  const settings = changedSettings(template, (key) => changesSetting(key, changed) && !Object.hasOwn(own, key));
  return { ...copy, ...settings, env: withChangedVariables(copy.env, template.env, isFollowed) };
}

/** Updates the endpoints with a copy of a template; endpoints that no longer exist are ignored. */
async function updateCopies(
  id: string,
  change: ContainerChange,
  updateCopy: NonNullable<ManagementClient["updateCopy"]>,
  context: Context,
): Promise<void> {
  const copies = await endpointsOf(id, context, callOptions(context));
  const updates = copies.map(async (endpoint) => {
    const container = copyAfter(endpoint, change);
    if (endpoint.container && revisionOf(endpoint.container) === revisionOf(container)) return;
    context.progress(`updating endpoint "${endpoint.name}" (${endpoint.id})`);
    try {
      await updateCopy(endpoint, { templateId: id, ...container }, callOptions(context));
    } catch (error) {
      if (!isApiError(error, "missing")) throw error;
    }
  });
  const [failed] = (await Promise.allSettled(updates)).filter((result) => result.status === "rejected");
  if (failed) throw failed.reason;
}

/** Checks input rules of REST v2 beyond the types (contract of REST v2: TemplateCreate). Unknown values pass. */
function validate(inputs: Properties, dialect: Dialect): Failure[] {
  if (dialect === "v1") return [];
  const { containerDiskInGb: disk, volumeInGb: volume = 0, volumeMountPath: path } = inputs;
  const failures = cudaVersionFailures("allowedCudaVersions", inputs["allowedCudaVersions"]);
  if (disk === 0) failures.push({ path: "containerDiskInGb", shown: "is 0", reason: "must be 1 or more with REST v2" });
  if (typeof volume === "number" && volume > 0 && volume < minPodVolumeSize)
    failures.push({
      path: "volumeInGb",
      shown: `is ${volume}`,
      reason: `must be 0, or ${minPodVolumeSize} or more, with REST v2`,
    });
  if (volume === 0 && typeof path === "string" && path !== defaultMountPath)
    failures.push({
      path: "volumeMountPath",
      reason: "requires volumeInGb above 0 with REST v2; remove it, or set the provider's dialect to v1",
    });
  return failures;
}

/** Start arguments, which have several notations. */
const startShape = checkedInputs.pick({ dockerArgs: true, dockerEntrypoint: true, dockerStartCmd: true });

/** Omits changes of the start arguments if these are the same in another notation. */
function withoutNotation(changes: Change[], olds: Properties, news: Properties): Change[] {
  const [before, after] = [olds, news].map((properties) => startShape.safeParse(properties).data);
  const isSame = before && after && toStartText(before) === toStartText(after);
  return isSame ? changes.filter(({ path: [key] }) => !startKeys.some((name) => name === key)) : changes;
}

/**
 * Replaces the template for each change of the workers' content if `replaceOnChange` is set. In REST v2, also for the removal of a
 * volume, which a PATCH cannot remove (contract: TemplateMounts).
 */
function plan({ changes, olds, news, dialect, keepsName }: PlanInput): Plan {
  const replacesContent = news["replaceOnChange"] === true;
  const removesVolume = dialect === "v2" && news["volumeInGb"] === 0;
  const planned = withoutNotation(changes, olds, news).map((change) => {
    const [key] = change.path;
    const isContent = templateContent.some((name) => name === key);
    const forces = (replacesContent && isContent) || (removesVolume && key === "volumeInGb");
    return forces ? { ...change, replace: true } : change;
  });
  const warnings =
    keepsName && isReplacement(planned)
      ? [
          "replacing a template under the same name deletes the old one first, which fails while an endpoint uses it; " +
            "change or remove the name to create the new one first",
        ]
      : [];
  return { changes: planned, warnings };
}

/**
 * Template: the image and settings of workers (interface: Template). Names are unique in the account, so a replacement under the
 * same name deletes the old template first. A delete waits until the template is no longer in use.
 */
export const template = defineObject<Inputs, Outputs, TemplateRecord>({
  kind: "Template",
  description: "Image, arguments, environment and disks of workers.",
  inputs: templateInputs,
  checkedInputs,
  outputs: templateOutputs,
  validate,
  plan,

  client: (management) => ({
    list: management.listTemplates,
    read: management.readTemplate,
    create: (inputs, options) => management.createTemplate(settingsOf(inputs), options),
    delete: management.deleteTemplate,
  }),
  observe,
  update,
  delete: releaseTemplate,
});

/** Cached revisions of listed templates, because each endpoint is compared with all templates. */
const revisions = new WeakMap<TemplateRecord, string>();

/** Returns the first template with the same settings as an endpoint's workers; undefined if no template matches. */
export async function findTemplateBySettings(
  container: ContainerSettings,
  context: Context,
): Promise<TemplateRecord | undefined> {
  const target = revisionOf(container);
  const { objects } = await template.reader(context).list(context);
  return objects.find((record) => {
    const revision = revisions.get(record) ?? revisionOf(record);
    revisions.set(record, revision);
    return revision === target;
  });
}

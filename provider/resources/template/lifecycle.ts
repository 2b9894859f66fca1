import { type Dialect, isApiError, type TemplateRecord } from "serverless-compute-api";
import type { ContainerSettings } from "serverless-compute-api/shapes";
import { callOptions } from "../../lifecycle/calls";
import type { Change, Context, Failure, Properties } from "../../lifecycle/contract";
import { changesIn, type Update } from "../../lifecycle/create/creation";
import { type Actual, isReplacement } from "../../lifecycle/define";
import { defineObject } from "../../lifecycle/define-object";
import { onlyIn } from "../../lifecycle/properties/dialect";
import { textOf, toProperties } from "../../lifecycle/properties/values";
import { malformedCudaVersions } from "../cuda-versions";
import { type Inputs, type Outputs, resolvedInputs, templateInputs, templateOutputs, usualMountPath } from "./inputs";
import { releaseTemplate } from "./release";
import { contentKeys, packedPorts, revisionOf } from "./revision";
import { startArgumentsOf, startText } from "./start-arguments";

/** GB that a pod's volume has at least with REST v2. */
const smallestVolume = 10;

function fromRecord(record: TemplateRecord, wanted: Properties): Actual<Inputs, Outputs> {
  const { dockerArgs, containerRegistryAuthId, unshown = [], ...same } = record;
  const inputs: Actual<Inputs, Outputs>["inputs"] = {
    ...toProperties(same),
    ...startArgumentsOf(dockerArgs, textOf(wanted, "dockerArgs") !== undefined),
    containerRegistryAuthId,
  };
  for (const key of unshown) delete inputs[key];
  // A template that REST v2 made has none.
  if (record.volumeMountPath === "") delete inputs.volumeMountPath;
  return { inputs, outputs: { revision: revisionOf(record) } };
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
  dockerArgs: startText({ dockerArgs: inputs.dockerArgs, dockerEntrypoint, dockerStartCmd }),
  volumeInGb: inputs.volumeInGb ?? 0,
  containerRegistryAuthId: inputs.containerRegistryAuthId || null,
});

/** The inputs that make up the start text. */
const startArguments = ["dockerArgs", "dockerEntrypoint", "dockerStartCmd"];

/**
 * Changes in place: only what differs goes out, so that nothing else is touched. What workers run also goes to the
 * endpoints that have a copy of it.
 */
async function update(id: string, { news, changed }: Update<Inputs>, context: Context): Promise<Outputs> {
  const { management } = context.clients;
  const settings = { allowedCudaVersions: [], ...settingsOf(news) };
  const changes = changesIn(settings, (key) => (key === "dockerArgs" ? startArguments.some(changed) : changed(key)));
  const revision = revisionOf(news);
  if (Object.keys(changes).length > 0)
    await management.updateTemplate(id, changes, { ...callOptions(context), settings });
  if (templateContent.some(changed)) await updateCopies(id, revision, context);
  return { revision };
}

/** Hands a template's settings to the endpoints that have a copy of others; one that is gone meanwhile needs none. */
async function updateCopies(id: string, revision: string, context: Context): Promise<void> {
  const { management } = context.clients;
  const copies = await management.listCopies(id, callOptions(context));
  const stale = copies.filter(({ container }) => container && revisionOf(container) !== revision);
  const updates = stale.map(async (endpoint) => {
    context.progress(`updating endpoint "${endpoint.name}" (${endpoint.id})`);
    try {
      await management.updateCopy(endpoint, id, callOptions(context));
    } catch (error) {
      if (!isApiError(error, "missing")) throw error;
    }
  });
  const [failed] = (await Promise.allSettled(updates)).filter((one) => one.status === "rejected");
  if (failed) throw failed.reason;
}

/** REST v2 keeps a volume that a PATCH leaves out, so removing one replaces the template (contract: TemplateMounts). */
const withoutVolume = (changes: Change[], news: Properties, dialect: Dialect | undefined): Change[] =>
  dialect === "v2" && news["volumeInGb"] === 0
    ? changes.map((change) => (change.path[0] === "volumeInGb" ? { ...change, replace: true } : change))
    : changes;

/** Input rules of REST v2 beyond the types (contract of REST v2: TemplateCreate). Unknown values pass. */
function dialectRules(inputs: Properties, dialect: Dialect): Failure[] {
  if (dialect === "v1") return [];
  const { containerDiskInGb: disk, volumeInGb: volume = 0, volumeMountPath: path } = inputs;
  const failures = malformedCudaVersions("allowedCudaVersions", inputs["allowedCudaVersions"]);
  if (disk === 0) failures.push({ path: "containerDiskInGb", reason: "is 0; must be 1 or more with REST v2" });
  if (typeof volume === "number" && volume > 0 && volume < smallestVolume)
    failures.push({
      path: "volumeInGb",
      reason: `is ${volume}; must be 0, or ${smallestVolume} or more, with REST v2`,
    });
  if (volume === 0 && typeof path === "string" && path !== usualMountPath)
    failures.push({ path: "volumeMountPath", reason: `${onlyIn("v1")}, because volumeInGb is 0` });
  return failures;
}

/** The inputs that decide the revision. */
const contentShape = resolvedInputs.pick(contentKeys);
const templateContent = contentShape.keyof().options;

/** With `replaceOnChange`, each change of what workers run replaces the template. */
const contentReplaces = (changes: Change[], { replaceOnChange }: Properties): Change[] =>
  replaceOnChange === true
    ? changes.map((change) =>
        templateContent.some((key) => key === change.path[0]) ? { ...change, replace: true } : change,
      )
    : changes;

/**
 * A template: the image and settings that workers start from (interface: Template). Names are unique in the account,
 * so a replacement under the same name deletes the old template first. A delete waits until nothing uses the template.
 */
export const template = defineObject<Inputs, Outputs, TemplateRecord>({
  kind: "Template",
  description: "Image, arguments, environment and disks of workers.",
  inputs: templateInputs,
  resolved: resolvedInputs,
  outputs: templateOutputs,
  alters: { revision: templateContent },
  derives: {
    revision: (inputs) => {
      const { data } = contentShape.safeParse(inputs);
      return data && revisionOf(data);
    },
  },
  warnings(changes, keepsName, dialect) {
    if (!keepsName || !isReplacement(changes)) return [];
    // Endpoints of REST v2 have copies, which do not hold the template.
    const user = dialect === "v2" ? "an endpoint created by REST v1" : "an endpoint";
    return [
      `replacing a template under the same name deletes the old one first, which fails while ${user} uses it; ` +
        "change or remove the name to create the new one first",
    ];
  },
  implied: { volumeInGb: 0 },
  dialectRules,
  suffixesNames: ({ replaceOnChange }) => replaceOnChange === true,
  changes: (found, _olds, news, dialect) => withoutVolume(contentReplaces(found, news), news, dialect),
  same: {
    ports: (was, is) => packedPorts(was) === packedPorts(is),
    dockerArgs: (was, is) => startText({ dockerArgs: String(was) }) === startText({ dockerArgs: String(is) }),
  },

  objects: (management) => ({
    list: management.listTemplates,
    read: management.readTemplate,
    create: (inputs, options) => management.createTemplate(settingsOf(inputs), options),
  }),
  fromRecord,
  made: (inputs) => ({ revision: revisionOf(inputs) }),
  update,
  delete: releaseTemplate,
});

/** Revisions of listed templates: each of many endpoints is compared with all of them. */
const revisions = new WeakMap<TemplateRecord, string>();

/** The first template whose settings equal those of an endpoint's workers; undefined if there is none. */
export async function templateWith(
  container: ContainerSettings,
  context: Context,
): Promise<TemplateRecord | undefined> {
  const wanted = revisionOf(container);
  const { found } = await template.reads(context).all(context);
  return found.find((one) => {
    const revision = revisions.get(one) ?? revisionOf(one);
    revisions.set(one, revision);
    return revision === wanted;
  });
}

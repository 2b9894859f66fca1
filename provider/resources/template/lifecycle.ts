import type { CallOptions, SaveTemplateInput, TemplatePatch, TemplateRecord } from "serverless-compute-api";
import { callOptions } from "../../lifecycle/calls";
import type { Context } from "../../lifecycle/contract";
import type { Update } from "../../lifecycle/create/creation";
import type { Actual } from "../../lifecycle/define";
import { defineObject } from "../../lifecycle/define-object";
import { type Inputs, type Outputs, resolvedInputs, templateInputs, templateOutputs } from "./inputs";
import { releaseTemplate } from "./release";
import { packedPorts, revisionOf, templateContent } from "./revision";

/** The inputs that decide the revision. */
const contentShape = resolvedInputs.pick({
  imageName: true,
  dockerArgs: true,
  env: true,
  ports: true,
  containerDiskInGb: true,
  containerRegistryAuthId: true,
});

function fromRecord(record: TemplateRecord): Actual<Inputs, Outputs> {
  const { name, imageName, containerDiskInGb, volumeInGb, dockerArgs, env, ports, readme } = record;
  const { volumeMountPath, isServerless, containerRegistryAuthId } = record;
  const inputs = { name, imageName, containerDiskInGb, volumeInGb, dockerArgs, env, ports, readme };
  return {
    inputs: { ...inputs, volumeMountPath, isServerless, containerRegistryAuthId },
    outputs: { revision: revisionOf(record) },
  };
}

/** The whole of a template in the form of saveTemplate. */
function saved({ env, containerRegistryAuthId, adoptExisting: _, ...rest }: Inputs): SaveTemplateInput {
  const entries = Object.entries(env).map(([key, value]) => ({ key, value }));
  return { ...rest, env: entries, ...(containerRegistryAuthId ? { containerRegistryAuthId } : {}) };
}

/** Changes in place: only what differs goes out, so that nothing else is touched. */
async function update(id: string, { news, changed }: Update<Inputs>, context: Context): Promise<Outputs> {
  // The empty text clears the credentials of an existing template.
  const whole = { ...saved(news), containerRegistryAuthId: news.containerRegistryAuthId ?? "" };
  const patch: TemplatePatch = Object.fromEntries(Object.entries(whole).filter(([key]) => changed(key)));
  if (Object.keys(patch).length > 0) await context.clients.management.updateTemplate(id, patch, callOptions(context));
  return { revision: revisionOf(news) };
}

/** Whether no endpoint runs it. */
const unused = async ({ id }: TemplateRecord, { clients }: Context, options: CallOptions): Promise<boolean> =>
  (await clients.management.listEndpoints(options)).every(({ templateId }) => templateId !== id);

/**
 * A template: the image and settings that workers start from (interface: Template). Names are unique in the account,
 * so a replacement of the same name deletes the old one first. It is deleted once nothing uses it any more.
 */
export const template = defineObject<Inputs, Outputs, TemplateRecord>({
  kind: "Template",
  description: "What workers run: image, arguments, environment and disks.",
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
  replaceWarning: (changed) =>
    changed.has("name")
      ? undefined
      : "replacing a template under its name deletes the old one first, which fails while an endpoint uses it: " +
        "change its name, too, and the new one is made first",
  same: { ports: (was, is) => packedPorts(was) === packedPorts(is) },

  objects: (management) => ({
    list: management.listTemplates,
    read: management.readTemplate,
    create: (inputs, options) => management.saveTemplate(saved(inputs), options),
  }),
  fromRecord,
  made: (inputs) => ({ revision: revisionOf(inputs) }),
  leftover: { onlyRecent: false, unused },
  update,
  delete: releaseTemplate,
});

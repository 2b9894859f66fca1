import {
  fromV2Names,
  plainTemplateFields,
  toV2Names,
  type v2EndpointPatch,
  type v2TemplatePatch,
} from "serverless-compute-api/shapes";
import type { z } from "zod";
import { splitList } from "../resources/catalog";
import { containerOf } from "../resources/releases";
import type { TemplateChanges, TemplateRow } from "../resources/template-table";
import { startChanges, startRecord } from "./rest-v2-start-command";

/** Mapping of templates, and of endpoint containers with the same fields, between REST v2 and the resources. */

/** Default size of a container disk, GB. */
export const defaultDisk = 50;

/** Container fields of a body. */
export type ContainerFields = Pick<
  z.output<typeof v2EndpointPatch>,
  "image" | "args" | "entrypoint" | "cmd" | "disk" | "env" | "ports" | "registry"
>;

const noCommand = { dockerArgs: "", dockerEntrypoint: [] };

/** The container settings of a body, as changes of the `current` settings; null clears the credentials. */
export const containerChanges = (
  body: ContainerFields,
  current: Pick<TemplateRow, "dockerArgs" | "dockerEntrypoint"> = noCommand,
): TemplateChanges => ({
  imageName: body.image,
  ...startChanges(body, current),
  containerDiskInGb: body.disk,
  env: body.env,
  ports: body.ports?.join(","),
  containerRegistryAuthId: body.registry,
});

/** The container of a template or endpoint as returned by REST v2; `env` overrides the template's variables. */
export const containerRecord = (template: TemplateRow, env: Record<string, string> = {}) => ({
  ...containerOf(template, env),
  ...startRecord(template),
  ports: splitList(template.ports),
});

/** Template settings in the body of a POST or PATCH. An omitted mount is kept, because REST v2 cannot clear it. */
export const templateValues = (body: z.output<typeof v2TemplatePatch>, current?: TemplateRow): TemplateChanges => ({
  ...fromV2Names(plainTemplateFields, body),
  ...containerChanges(body, current),
  ...(body.mounts?.persistent && {
    volumeInGb: body.mounts.persistent.size,
    volumeMountPath: body.mounts.persistent.path,
  }),
});

/** A template as returned by REST v2. */
export const templateRecord = (template: TemplateRow) => ({
  id: template.id,
  ...toV2Names<unknown>(plainTemplateFields, { ...template }),
  ...containerRecord(template),
  mounts:
    template.volumeInGb === 0 ? {} : { persistent: { size: template.volumeInGb, path: template.volumeMountPath } },
  category: template.category === "GPU" ? "NVIDIA" : template.category,
});

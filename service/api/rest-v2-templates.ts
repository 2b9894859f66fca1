import {
  inV2,
  outOfV2,
  plainTemplateFields,
  type v2EndpointPatch,
  type v2TemplatePatch,
} from "serverless-compute-api/shapes";
import type { z } from "zod";
import { splitList } from "../resources/catalog";
import { containerOf } from "../resources/releases";
import type { TemplateChanges, TemplateRow } from "../resources/template-table";
import { startChanges, startRecord } from "./rest-v2-start-command";

/** Mapping of templates, and of endpoints' containers with the same fields, between REST v2 and the resources. */

/** Default size of a container's disk, GB. */
export const defaultDisk = 50;

/** The fields of a container in a body. */
export type ContainerFields = Pick<
  z.output<typeof v2EndpointPatch>,
  "image" | "args" | "entrypoint" | "cmd" | "disk" | "env" | "ports" | "registry"
>;

const noCommand = { dockerArgs: "", dockerEntrypoint: [] };

/** A container's settings by their fields, as changes of the `current` one; null clears the credentials. */
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

/** A container as REST v2 shows it, of a template or of an endpoint with variables of its own. */
export const containerRecord = (template: TemplateRow, env: Record<string, string> = {}) => ({
  ...containerOf(template, env),
  ...startRecord(template),
  ports: splitList(template.ports),
});

/** Template settings in the body of a POST or PATCH. An omitted mount stays: REST v2 cannot clear it. */
export const templateValues = (body: z.output<typeof v2TemplatePatch>, current?: TemplateRow): TemplateChanges => ({
  ...outOfV2(plainTemplateFields, body),
  ...containerChanges(body, current),
  ...(body.mounts?.persistent && {
    volumeInGb: body.mounts.persistent.size,
    volumeMountPath: body.mounts.persistent.path,
  }),
});

/** A template as REST v2 shows it. */
export const templateRecord = (template: TemplateRow) => ({
  id: template.id,
  ...inV2<unknown>(plainTemplateFields, { ...template }),
  ...containerRecord(template),
  mounts:
    template.volumeInGb === 0 ? {} : { persistent: { size: template.volumeInGb, path: template.volumeMountPath } },
  category: template.category === "GPU" ? "NVIDIA" : template.category,
});

import type { v2EndpointPatch, v2TemplatePatch } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { splitList } from "../resources/catalog";
import { containerOf } from "../resources/releases";
import type { TemplateChanges, TemplateRow } from "../resources/templates";

/** What REST v2 takes and shows of templates, and of the containers that endpoints have in the same fields. */

/** GB of a container's disk where nothing says otherwise. */
export const defaultDisk = 50;

/** The fields of a container in a body. */
export type ContainerFields = Pick<
  z.output<typeof v2EndpointPatch>,
  "image" | "args" | "disk" | "env" | "ports" | "registry"
>;

/** A container's settings by their fields; null clears the credentials. */
export const containerChanges = ({ image, args, disk, env, ports, registry }: ContainerFields): TemplateChanges => ({
  imageName: image,
  dockerArgs: args,
  containerDiskInGb: disk,
  env,
  ports: ports?.join(","),
  containerRegistryAuthId: registry,
});

/** A container as REST v2 shows it, of a template or of an endpoint with variables of its own. */
export const containerRecord = (template: TemplateRow, env: Record<string, string> = {}) => ({
  ...containerOf(template, env),
  ports: splitList(template.ports),
});

/** What the body of a POST or PATCH of a template sets. */
export function templateValues(body: z.output<typeof v2TemplatePatch>): TemplateChanges {
  const { mounts, serverless, public: isPublic, category, startSsh, startJupyter, allowedCudaVersions, name } = body;
  return {
    name,
    ...containerChanges(body),
    ...(mounts && { volumeInGb: mounts.persistent?.size ?? 0, volumeMountPath: mounts.persistent?.path ?? null }),
    isServerless: serverless,
    isPublic,
    category,
    startSsh,
    startJupyter,
    allowedCudaVersions,
  };
}

/** A template as REST v2 shows it. */
export const templateRecord = (template: TemplateRow) => ({
  id: template.id,
  name: template.name,
  ...containerRecord(template),
  mounts:
    template.volumeInGb === 0 ? {} : { persistent: { size: template.volumeInGb, path: template.volumeMountPath } },
  serverless: template.isServerless,
  public: template.isPublic,
  category: template.category === "GPU" ? "NVIDIA" : template.category,
  startSsh: template.startSsh,
  startJupyter: template.startJupyter,
  allowedCudaVersions: template.allowedCudaVersions,
});

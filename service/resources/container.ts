import { type TemplateRow, templateContent } from "./template-table";

/**
 * The template fields that describe the container of a worker. A change of one creates a new version of each endpoint that uses the template,
 * and the version's release contains the change.
 */
export const container = templateContent.pick({
  imageName: true,
  dockerArgs: true,
  containerDiskInGb: true,
  ports: true,
  containerRegistryAuthId: true,
  env: true,
  startScript: true,
  volumeInGb: true,
  volumeMountPath: true,
});
export const containerFields = container.keyof().options;

/** Container settings; some may be absent. */
export type Container = Partial<Pick<TemplateRow, (typeof containerFields)[number]>>;

/** The container settings of a template; absent ones are undefined. */
export const containerOf = (template: TemplateRow): Container =>
  Object.fromEntries(containerFields.map((field) => [field, template[field]]));

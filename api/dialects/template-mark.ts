import { isDeepStrictEqual } from "node:util";
import { type ContainerSettings, containerOf, type TemplateRecord } from "../shapes";

/**
 * Variable with the template's id in an endpoint that has a copy of its settings. REST v2 copies a template without a reference,
 * so only this variable shows which endpoints a change of the template must reach.
 */
export const markVariable = "SERVERLESS_COMPUTE_TEMPLATE_ID";

/** The variable that names a template. */
export const markOf = (templateId: string): Record<string, string> => ({ [markVariable]: templateId });

/** A copy of a template's container settings, with the mark as an additional variable. */
export const markedCopy = (template: TemplateRecord): ContainerSettings => ({
  ...containerOf(template),
  env: { ...template.env, ...markOf(template.id) },
});

/** Removes the mark from a copy; `templateId` is the template that it names, undefined without a mark. */
export function unmarked(copy: ContainerSettings): { templateId: string | undefined; container: ContainerSettings } {
  const { [markVariable]: templateId, ...env } = copy.env;
  return { templateId, container: { ...copy, env } };
}

/** Returns whether a container has the settings of a template. */
export const hasSameSettings = (container: ContainerSettings, template: TemplateRecord): boolean =>
  isDeepStrictEqual(container, containerOf(template));

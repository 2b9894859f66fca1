import { type ContainerSettings, containerOf, type OwnContainer, ownContainerIn, withOwnSettings } from "./container";
import type { TemplateRecord } from "./template";

/**
 * Variable with the template's id in an endpoint that has a copy of its settings. REST v2 copies a template without a reference,
 * so only this variable shows which endpoints a change of the template must reach. The names of settings that are the endpoint's own
 * follow the id, such as `id imageName env.MODEL`.
 */
export const markVariable = "SERVERLESS_COMPUTE_TEMPLATE_ID";

/** The variable that names a template, and the endpoint's own settings. */
function markOf(templateId: string, { env = {}, ...settings }: OwnContainer = {}): Record<string, string> {
  const variables = Object.keys(env).map((name) => `env.${encodeURIComponent(name)}`);
  return { [markVariable]: [templateId, ...Object.keys(ownContainerIn(settings)), ...variables].join(" ") };
}

/** A container with the mark as an additional variable. */
export const withMark = (container: ContainerSettings, templateId: string, own?: OwnContainer): ContainerSettings => ({
  ...container,
  env: { ...container.env, ...markOf(templateId, own) },
});

/** A copy of a template for an endpoint with its own settings. */
export const markedCopy = (template: TemplateRecord, own?: OwnContainer): ContainerSettings =>
  withMark(withOwnSettings(containerOf(template), own), template.id, own);

/** Removes the mark from a copy; `templateId` is the template that it names, undefined without a mark. */
export function unmarked(copy: ContainerSettings): {
  templateId: string | undefined;
  own: OwnContainer | undefined;
  container: ContainerSettings;
} {
  const { [markVariable]: mark, ...env } = copy.env;
  const container = { ...copy, env };
  if (mark === undefined) return { templateId: undefined, own: undefined, container };
  const [templateId, ...names] = mark.split(" ");
  const isOwn = (name: string): boolean => names.includes(name);
  const ownEnv = Object.entries(env).filter(([name]) => isOwn(`env.${encodeURIComponent(name)}`));
  const ownSettings = Object.entries(container).filter(([name]) => name !== "env" && isOwn(name));
  const own = { ...Object.fromEntries(ownSettings), ...(ownEnv.length > 0 && { env: Object.fromEntries(ownEnv) }) };
  return { templateId, own, container };
}

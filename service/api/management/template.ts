import {
  fromV2Names,
  limits,
  plainTemplateFields,
  restTemplateCreate,
  restTemplatePatch,
  saveTemplateInput,
  toV2Names,
  type v2EndpointPatch,
  v2TemplateCreate,
  v2TemplatePatch,
} from "serverless-compute-api/shapes";
import { z } from "zod";
import { splitList } from "../../resources/catalog";
import { withoutNulls } from "../../resources/table";
import type { TemplateChanges, TemplateRow } from "../../resources/template-table";
import { parseInput, parseV2 } from "../../validation";
import { changedDockerArgs, parseStartCommand } from "./start-command";

/** Mapping of templates between each API and the resources. */

/** Default size of a pod's volume in REST v1, GB. */
const defaultPodVolume = 20;

/** Reads the body of POST /templates in REST v1. */
export function readV1Template(body: unknown): TemplateChanges {
  const { ports, dockerStartCmd, dockerEntrypoint, volumeInGb, ...fields } = parseInput(restTemplateCreate, body);
  return {
    ...fields,
    volumeInGb: volumeInGb ?? (fields.isServerless ? 0 : defaultPodVolume),
    ports: ports.join(","),
    dockerArgs: changedDockerArgs({ entrypoint: dockerEntrypoint, cmd: dockerStartCmd }, ""),
  };
}

/** Reads the body of PATCH /templates/{id} in REST v1. */
export function readV1TemplatePatch(body: unknown, { dockerArgs }: TemplateRow): TemplateChanges {
  const { ports, dockerStartCmd, dockerEntrypoint, ...fields } = parseInput(restTemplatePatch, body);
  return {
    ...fields,
    ports: ports?.join(","),
    dockerArgs: changedDockerArgs({ entrypoint: dockerEntrypoint, cmd: dockerStartCmd }, dockerArgs),
  };
}

/** A template as returned by REST v1. */
export function v1Template({ createdAt: _created, lastUsedAt: _used, ...template }: TemplateRow) {
  const { entrypoint, cmd } = parseStartCommand(template.dockerArgs);
  return { ...template, ports: splitList(template.ports), dockerEntrypoint: entrypoint, dockerStartCmd: cmd };
}

/** The container's fields in a body of REST v2, which templates and endpoints share. */
export type V2Container = Pick<
  z.output<typeof v2EndpointPatch>,
  "image" | "args" | "entrypoint" | "cmd" | "disk" | "env" | "ports" | "registry"
>;

/** The container settings of a body of REST v2, as changes of the `current` settings; null clears the credentials. */
export const v2ContainerChanges = (
  body: V2Container,
  current: Pick<TemplateRow, "dockerArgs"> = { dockerArgs: "" },
): TemplateChanges => ({
  imageName: body.image,
  dockerArgs: changedDockerArgs(body, current.dockerArgs),
  containerDiskInGb: body.disk,
  env: body.env,
  ports: body.ports?.join(","),
  containerRegistryAuthId: body.registry,
});

/** The container of a template or endpoint as returned by REST v2; `env` overrides the template's variables. */
export const v2ContainerOf = (template: TemplateRow, env: Record<string, string> = {}) => ({
  image: template.imageName,
  args: template.dockerArgs,
  ...parseStartCommand(template.dockerArgs),
  disk: template.containerDiskInGb,
  env: { ...template.env, ...env },
  ports: splitList(template.ports),
  registry: template.containerRegistryAuthId ?? null,
});

/** Settings in a body of REST v2. An omitted mount is kept, because REST v2 cannot clear it. */
const v2TemplateChanges = (body: z.output<typeof v2TemplatePatch>, current?: TemplateRow): TemplateChanges => ({
  ...fromV2Names(plainTemplateFields, body),
  ...v2ContainerChanges(body, current),
  ...(body.mounts?.persistent && {
    volumeInGb: body.mounts.persistent.size,
    volumeMountPath: body.mounts.persistent.path,
  }),
});

/** Reads the body of POST /templates in REST v2. */
export function readV2Template(body: unknown): TemplateChanges {
  const defaults = {
    containerDiskInGb: limits.containerDiskDefault,
    volumeInGb: 0,
    startSsh: true,
    startJupyter: true,
  };
  return { ...defaults, ...withoutNulls(v2TemplateChanges(parseV2(v2TemplateCreate, body))) };
}

/** Reads the body of PATCH /templates/{id} in REST v2. */
export const readV2TemplatePatch = (body: unknown, current: TemplateRow): TemplateChanges =>
  v2TemplateChanges(parseV2(v2TemplatePatch, body), current);

/** A template as returned by REST v2. */
export const v2Template = (template: TemplateRow) => ({
  id: template.id,
  ...toV2Names<unknown>(plainTemplateFields, { ...template }),
  ...v2ContainerOf(template),
  mounts:
    template.volumeInGb === 0 ? {} : { persistent: { size: template.volumeInGb, path: template.volumeMountPath } },
  category: template.category === "GPU" ? "NVIDIA" : template.category,
});

const graphqlVariable = saveTemplateInput.shape.env.element.extend({
  // A map with this name loses it, as the body of a REST request does.
  key: saveTemplateInput.shape.env.element.shape.key.refine((name) => name !== "__proto__", {
    error: "__proto__ is not allowed",
  }),
});

/** A list of variables in GraphQL, parsed to a map. */
export const graphqlEnvironment = z
  .array(graphqlVariable.nullable())
  .transform((entries) => Object.fromEntries(entries.flatMap((entry) => (entry ? [[entry.key, entry.value]] : []))));

/** A map of variables as a list of GraphQL. */
export const graphqlEnvironmentOf = (env: Record<string, string>) =>
  Object.entries(env).map(([key, value]) => ({ key, value }));

/** The other fields have the schema's types and no bounds. */
const graphqlInput = z.looseObject({
  ...saveTemplateInput.shape,
  dockerArgs: saveTemplateInput.shape.dockerArgs.optional(),
  env: graphqlEnvironment.optional(),
  category: z.enum(["NVIDIA", "AMD", "CPU", "GPU"]).optional(),
});

/** Reads the input of saveTemplate, which changes the template `id`, or creates a template without `id`. */
export function readGraphqlTemplate(input: object): { id: string | undefined; changes: TemplateChanges } {
  const { id, ...changes } = parseInput(graphqlInput, withoutNulls(input));
  return { id: id || undefined, changes };
}

/** The new serverless template in the input of saveEndpoint. */
export const readGraphqlServerlessTemplate = (input: object): TemplateChanges =>
  readGraphqlTemplate({ volumeInGb: 0, ...withoutNulls(input), id: undefined, isServerless: true }).changes;

/** Ports as strings, because clients fail on numbers. */
const portsConfig = z.array(
  z.object({ name: z.string().nullish(), port: z.union([z.string(), z.number().transform(String)]).nullish() }),
);

/** A template as returned by GraphQL. */
export const graphqlTemplate = (template: TemplateRow) => ({
  ...template,
  isRunpod: false,
  env: graphqlEnvironmentOf(template.env),
  portsConfig: portsConfig.safeParse(template.portsConfig).data,
});

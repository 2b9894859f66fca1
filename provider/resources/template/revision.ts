import { createHash } from "node:crypto";
import { limits } from "serverless-compute-api/limits";
import { type StartArguments, startKeys, toStartText } from "./start-arguments";

/** Workers' content in a template, with defaults applied. */
export interface TemplateContent extends StartArguments {
  imageName: string;
  env: Readonly<Record<string, string>>;
  ports: string;
  containerDiskInGb: number;
  containerRegistryAuthId?: string | null | undefined;
}

/** Settings of a container that a program omits, unless they are those of a template. */
export const containerDefaults = {
  containerDiskInGb: limits.containerDiskDefault,
  dockerArgs: "",
  env: {},
  ports: "",
};

/** Inputs that make up the workers' content. */
export const contentKeys = {
  imageName: true,
  dockerArgs: true,
  dockerEntrypoint: true,
  dockerStartCmd: true,
  env: true,
  ports: true,
  containerDiskInGb: true,
  containerRegistryAuthId: true,
} as const satisfies Record<keyof TemplateContent, true>;

/** Normalizes ports by removing whitespace, which has no meaning. */
export const normalizePorts = (ports: string): string => ports.replaceAll(/\s/g, "");

const hashOf = (parts: unknown): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);

const sortedVariables = (env: TemplateContent["env"]) => Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));

/** Returns the hash of the workers' content; equivalent notations have equal hashes. */
export function revisionOf(template: TemplateContent): string {
  const { imageName, env, ports, containerDiskInGb, containerRegistryAuthId } = template;
  // The order affects the hash, which is stored in states: never change it.
  const parts = [
    imageName,
    toStartText(template),
    sortedVariables(env),
    normalizePorts(ports),
    containerDiskInGb,
    containerRegistryAuthId ?? "",
  ];
  return hashOf(parts);
}

/** The container of an endpoint: its own, or the template and the settings that override the template's. */
export type EndpointContent = { [Key in keyof TemplateContent]?: TemplateContent[Key] | undefined } & {
  templateId?: string | undefined;
};

/** Returns the hash of an endpoint's container, which without a template is that of a template with the same settings. */
export function endpointRevisionOf({ templateId, ...own }: EndpointContent): string {
  const { imageName = "", env, ports, containerDiskInGb, containerRegistryAuthId, dockerArgs } = own;
  if (templateId === undefined)
    return revisionOf({
      ...own,
      imageName,
      env: env ?? containerDefaults.env,
      ports: ports ?? containerDefaults.ports,
      containerDiskInGb: containerDiskInGb ?? containerDefaults.containerDiskInGb,
      dockerArgs: dockerArgs ?? containerDefaults.dockerArgs,
    });
  const setsStart = startKeys.some((key) => own[key] !== undefined);
  const variables = sortedVariables(env ?? {});
  return hashOf([
    templateId,
    own.imageName,
    setsStart ? toStartText({ ...own, dockerArgs: dockerArgs ?? "" }) : undefined,
    // An empty map adds no variables to the template's.
    variables.length > 0 ? variables : undefined,
    ports === undefined ? undefined : normalizePorts(ports),
    containerDiskInGb,
    containerRegistryAuthId,
  ]);
}

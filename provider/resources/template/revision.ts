import { createHash } from "node:crypto";
import { type StartArguments, toStartText } from "./start-arguments";

/** Workers' content in a template, with defaults applied. */
export interface TemplateContent extends StartArguments {
  imageName: string;
  env: Readonly<Record<string, string>>;
  ports: string;
  containerDiskInGb: number;
  containerRegistryAuthId?: string | null | undefined;
}

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

/** Returns the hash of the workers' content; equivalent notations have equal hashes. */
export function revisionOf(template: TemplateContent): string {
  const { imageName, env, ports, containerDiskInGb, containerRegistryAuthId } = template;
  const variables = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  // The order affects the hash, which is stored in states: never change it.
  const parts = [
    imageName,
    toStartText(template),
    variables,
    normalizePorts(ports),
    containerDiskInGb,
    containerRegistryAuthId ?? "",
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

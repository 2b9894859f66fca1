import { createHash } from "node:crypto";
import type { Value } from "../../lifecycle/contract";
import { type StartArguments, startText } from "./start-arguments";

/** Worker content of a template, with defaults. */
export interface TemplateContent extends StartArguments {
  imageName: string;
  env: Readonly<Record<string, string>>;
  ports: string;
  containerDiskInGb: number;
  containerRegistryAuthId?: string | null | undefined;
}

/** The inputs that decide what workers run. */
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

/** Ports in one spelling: spaces mean nothing. */
export const packedPorts = (ports: Value): string => (typeof ports === "string" ? ports.replaceAll(/\s/g, "") : "");

/** Hash of what workers run: equal for equal content, however it is written. */
export function revisionOf(template: TemplateContent): string {
  const { imageName, env, ports, containerDiskInGb, containerRegistryAuthId } = template;
  const variables = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  // The order decides the hash, which is in states.
  const parts = [
    imageName,
    startText(template),
    variables,
    packedPorts(ports),
    containerDiskInGb,
    containerRegistryAuthId ?? "",
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

import { createHash } from "node:crypto";
import type { Value } from "../../lifecycle/contract";

/** What workers run of a template, defaults filled in. */
export interface TemplateContent {
  imageName: string;
  dockerArgs: string;
  env: Readonly<Record<string, string>>;
  ports: string;
  containerDiskInGb: number;
  containerRegistryAuthId?: string | null | undefined;
}

/** The inputs that decide what workers run. */
export const templateContent = [
  "imageName",
  "dockerArgs",
  "env",
  "ports",
  "containerDiskInGb",
  "containerRegistryAuthId",
] as const satisfies (keyof TemplateContent)[];

/** Ports in one spelling: spaces mean nothing. */
export const packedPorts = (ports: Value): string => (typeof ports === "string" ? ports.replaceAll(/\s/g, "") : "");

/** Hash of what workers run: equal for equal content, however it is written. */
export function revisionOf(template: TemplateContent): string {
  const parts = templateContent.map((key) => {
    if (key === "env") return Object.entries(template.env).sort(([a], [b]) => (a < b ? -1 : 1));
    if (key === "ports") return packedPorts(template.ports);
    return template[key] ?? "";
  });
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

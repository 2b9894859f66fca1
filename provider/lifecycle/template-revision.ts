import { createHash } from "node:crypto";
import type { Value } from "./lifecycle";

/** What workers run; a change of any of these is a new revision. */
export const content = [
  "imageName",
  "dockerArgs",
  "env",
  "ports",
  "containerDiskInGb",
  "containerRegistryAuthId",
] as const;

/** Those properties of a template, defaults filled in. */
export interface TemplateContent {
  imageName: string;
  dockerArgs: string;
  env: Record<string, string>;
  ports: string;
  containerDiskInGb: number;
  containerRegistryAuthId?: string | undefined;
}

/** Ports in one spelling: spaces mean nothing. */
export const packedPorts = (ports: Value): string => (typeof ports === "string" ? ports.replaceAll(/\s/g, "") : "");

/** Hash of what workers run: equal for equal content, however it is written. */
export function revisionOf(template: TemplateContent): string {
  const parts = content.map((key) => {
    if (key === "env") return Object.entries(template.env).sort(([a], [b]) => (a < b ? -1 : 1));
    if (key === "ports") return packedPorts(template.ports);
    return template[key] ?? "";
  });
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

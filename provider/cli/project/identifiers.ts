import type { ObjectKind } from "../../resources";

/** Word at the end of each name. It makes the names of all kinds distinct, and none of them a reserved word. */
const suffixes: Record<ObjectKind, string> = {
  Secret: "secret",
  NetworkVolume: "volume",
  ContainerRegistryAuth: "credentials",
  Template: "template",
  ServerlessEndpoint: "endpoint",
};

/** Lower-case ASCII words with hyphens between them; empty if the text has neither ASCII letters nor digits. */
export const hyphenate = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

function nameOf(kind: ObjectKind, objectName: string): string {
  const suffix = suffixes[kind];
  const text = hyphenate(objectName);
  if (text === "") return suffix;
  if (/^\d/.test(text)) return `${suffix}-${text}`;
  return text === suffix || text.endsWith(`-${suffix}`) ? text : `${text}-${suffix}`;
}

/**
 * Names resources after their objects: hyphenated, and distinct also without the hyphens, so that they are distinct identifiers
 * in every spelling. Repeated names get a number.
 */
export function resourceNames(): (kind: ObjectKind, objectName: string) => string {
  const usedNames = new Set<string>();
  /** The last number of each repeated name, so that many equal names take linear time. */
  const counts = new Map<string, number>();
  return (kind, objectName) => {
    const base = nameOf(kind, objectName);
    for (let count = (counts.get(base) ?? 0) + 1; ; count++) {
      const name = count === 1 ? base : `${base}-${count}`;
      const withoutHyphens = name.replaceAll("-", "");
      if (usedNames.has(withoutHyphens)) continue;
      usedNames.add(withoutHyphens);
      counts.set(base, count);
      return name;
    }
  };
}

/** `chat-endpoint-2` or `chat_endpoint_2` as `chatEndpoint2`. */
export const camelCase = (name: string): string => name.replace(/[-_](.)/g, (_, first: string) => first.toUpperCase());

import { type Properties, Unknown, type Value } from "../lifecycle/lifecycle";

/** Shorter texts say nothing worth hiding, and hiding them would tear every message apart. */
const shortestSecret = 4;

function leaves(value: Value | undefined): string[] {
  if (typeof value === "string") return value.length < shortestSecret ? [] : [value];
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (typeof value !== "object" || value === null || value instanceof Unknown) return [];
  return Object.values(value).flatMap(leaves);
}

function at(value: Value | undefined, path: readonly string[]): Value | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (typeof value !== "object" || value === null || value instanceof Unknown) return undefined;
  return at(Array.isArray(value) ? value[Number(key)] : value[key], rest);
}

/**
 * Takes the secret values among `properties` out of texts. The engine hides what it knows to be secret in state, but
 * shows messages as they are, and a handler's error text may well repeat its input.
 */
export function redactor(properties: Properties[], secrets: readonly (readonly string[])[]): (text: string) => string {
  const found = properties.flatMap((one) => secrets.flatMap((path) => leaves(at(one, path))));
  const escaped = found.map((one) => JSON.stringify(one).slice(1, -1));
  const texts = [...new Set([...found, ...escaped])].sort((a, b) => b.length - a.length);
  return (text) => texts.reduce((sofar, secret) => sofar.replaceAll(secret, "[secret]"), text);
}

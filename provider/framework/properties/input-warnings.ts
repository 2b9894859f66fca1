import { optionsOf, showValue } from "serverless-compute-api/shapes";
import { suggest, withSameWords } from "serverless-compute-api/spelling";
import type { z } from "zod";
import { isProperties, type Path, type Properties, pathText } from "../../engine/values";
import { isSecretAt } from "./secret-paths";

/**
 * Warnings about values that the bundled catalog does not list, with the nearest listed value. Values that `olds` already has
 * are skipped, because the service accepted them. Values of secret properties are neither checked nor shown.
 */
function catalogWarnings(shape: z.ZodObject, olds: Properties, news: Properties, secrets: readonly Path[]): string[] {
  return Object.entries(shape.shape).flatMap(([key, schema]) => {
    const { catalog } = optionsOf(schema);
    if (!catalog || secrets.some(([top]) => top === key)) return [];
    const accepted = new Set<unknown>([...catalog.ids, ...[olds[key]].flat()]);
    return [news[key]].flat().flatMap((value) => {
      if (typeof value !== "string" || value === "" || accepted.has(value)) return [];
      const pool = catalog.pools && Object.hasOwn(catalog.pools, value) ? catalog.pools[value] : undefined;
      const suggestion = withSameWords(value, catalog.ids) ?? suggest(value, catalog.ids);
      const advice = pool
        ? `it is a pool of: ${pool.join(", ")}; set these types instead`
        : suggestion === undefined
          ? "check that the service has it"
          : `did you mean ${showValue(suggestion)}?`;
      return [`${key}: unknown ${catalog.noun} ${showValue(value)}; ${advice}`];
    });
  });
}

/** Returns true if a plain text is likely to be a credential, by the name of its variable; a reference to a secret is none. */
export const isPlainCredential = (name: string, value: unknown): boolean =>
  typeof value === "string" &&
  value !== "" &&
  !/^\{\{.*\}\}$/.test(value) &&
  /(^|_)(API_?KEY|ACCESS_?KEY|SECRET_?KEY|PRIVATE_?KEY|SECRET|TOKEN|PASSWORD|PASSWD|CREDENTIALS?)$/i.test(name);

/** Warnings about new plain values in maps of variables that are likely to be credentials. No warning shows a value. */
function credentialWarnings(
  shape: z.ZodObject,
  olds: Properties,
  news: Properties,
  secrets: readonly Path[],
): string[] {
  return Object.entries(shape.shape).flatMap(([key, schema]) => {
    if (!optionsOf(schema).holdsVariables) return [];
    const [before = null, variables = null] = [olds[key], news[key]];
    if (!isProperties(variables)) return [];
    const isNew = (name: string, value: unknown): boolean => !isProperties(before) || before[name] !== value;
    return Object.entries(variables)
      .filter(
        ([name, value]) => isPlainCredential(name, value) && isNew(name, value) && !isSecretAt([key, name], secrets),
      )
      .map(
        ([name]) =>
          `${pathText([key, name])}: looks like a credential in plain text; pass the reference of a Secret instead`,
      );
  });
}

/** Warnings about inputs that are valid but likely to be mistakes. */
export const inputWarnings = (
  ...inputs: [shape: z.ZodObject, olds: Properties, news: Properties, secrets: readonly Path[]]
): string[] => [...catalogWarnings(...inputs), ...credentialWarnings(...inputs)];

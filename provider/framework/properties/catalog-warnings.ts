import { optionsOf, showValue } from "serverless-compute-api/shapes";
import type { z } from "zod";
import type { Path, Properties } from "../../engine/values";
import { suggest, withSameWords } from "./spelling";

/**
 * Warnings about values that the bundled catalog does not list, with the nearest listed value. Values that `olds` already has
 * are skipped, because the service accepted them. Values of secret properties are neither checked nor shown.
 */
export function catalogWarnings(
  shape: z.ZodObject,
  olds: Properties,
  news: Properties,
  secrets: readonly Path[],
): string[] {
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

import { showValue, traitsOf } from "serverless-compute-api/shapes";
import type { z } from "zod";
import type { Path, Properties } from "../contract";
import { closest } from "./spelling";

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
    const { catalog } = traitsOf(schema);
    if (!catalog || secrets.some(([top]) => top === key)) return [];
    const accepted = new Set<unknown>([...catalog.ids, ...[olds[key]].flat()]);
    return [news[key]].flat().flatMap((value) => {
      if (typeof value !== "string" || value === "" || accepted.has(value)) return [];
      const suggestion = closest(value, catalog.ids);
      const advice =
        suggestion === undefined ? "check that the service has it" : `did you mean ${showValue(suggestion)}?`;
      return [`${key}: unknown ${catalog.noun} ${showValue(value)}; ${advice}`];
    });
  });
}

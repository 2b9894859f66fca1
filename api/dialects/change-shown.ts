import { isDeepStrictEqual } from "node:util";

/** Result of reading an object after a change whose response was lost. */
type ChangeShown = "made" | "not made" | "unknown";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown): boolean =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0);

const textOf = (value: unknown): string => JSON.stringify(value) ?? "";

/** Returns true if two lists have the same elements in any order. */
const sameElements = (sent: readonly unknown[], shown: readonly unknown[]): boolean =>
  isDeepStrictEqual([...sent].map(textOf).sort(), [...shown].map(textOf).sort());

/** Keys whose value is a free map: a PATCH replaces the whole of it. */
const maps = ["env"];

/** Every comparison of a value that was sent with the one that is shown; none where the record does not show it. */
function comparisons(sent: Record<string, unknown>, shown: Record<string, unknown>): boolean[] {
  return Object.entries(sent).flatMap(([key, value]) => {
    if (value === undefined || !(key in shown)) return [];
    const found = shown[key];
    if (isEmpty(value) && isEmpty(found)) return [true];
    if (isObject(value) && isObject(found) && !maps.includes(key)) return comparisons(value, found);
    if (Array.isArray(value) && Array.isArray(found)) {
      // A response adds the memory to each choice of CPUs.
      const elements = found.map((one) => (isObject(one) ? { id: one["id"], vcpuCount: one["vcpuCount"] } : one));
      return [sameElements(value, elements)];
    }
    return [isDeepStrictEqual(value, found)];
  });
}

/**
 * Compares the body of a PATCH with the record that a read returned. A PATCH of REST v2 is made as a whole or not at all, so
 * one value that differs proves that it was not made. A body of which the record shows nothing proves nothing.
 */
export function changeShown(body: object, record: unknown): ChangeShown {
  if (!isObject(record)) return "unknown";
  const compared = comparisons({ ...body }, record);
  if (compared.length === 0) return "unknown";
  return compared.every(Boolean) ? "made" : "not made";
}

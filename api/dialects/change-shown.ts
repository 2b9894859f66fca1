import { isDeepStrictEqual } from "node:util";

/** Result of reading an object after a change whose response was lost. */
type ChangeShown = "made" | "not made" | "unknown";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown): boolean =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0);

const textOf = (value: unknown): string => JSON.stringify(value) ?? "";

/** Returns whether two lists have the same elements in any order. */
const sameElements = (sent: readonly unknown[], shown: readonly unknown[]): boolean =>
  isDeepStrictEqual([...sent].map(textOf).sort(), [...shown].map(textOf).sort());

/** Keys whose values are maps, which a PATCH replaces completely. */
const maps = ["env"];

/** Compares each sent value with the record; values missing from the record are skipped. */
function comparisons(sent: Record<string, unknown>, shown: Record<string, unknown>): boolean[] {
  return Object.entries(sent).flatMap(([key, value]) => {
    if (value === undefined || !(key in shown)) return [];
    const found = shown[key];
    if (isEmpty(value) && isEmpty(found)) return [true];
    if (isObject(value) && isObject(found) && !maps.includes(key)) return comparisons(value, found);
    if (Array.isArray(value) && Array.isArray(found)) {
      // Responses add the memory to each CPU choice.
      const elements = found.map((item) => (isObject(item) ? { id: item["id"], vcpuCount: item["vcpuCount"] } : item));
      return [sameElements(value, elements)];
    }
    return [isDeepStrictEqual(value, found)];
  });
}

/**
 * Compares the body of a PATCH with the record returned by a read. A PATCH of REST v2 is atomic, so a single different value proves that it
 * was not applied. The result is unknown if the record contains none of the values.
 */
export function changeShown(body: object, record: unknown): ChangeShown {
  if (!isObject(record)) return "unknown";
  const compared = comparisons({ ...body }, record);
  if (compared.length === 0) return "unknown";
  return compared.every(Boolean) ? "made" : "not made";
}

import { isDeepStrictEqual } from "node:util";

/** Result of reading an object after a change whose response was lost. */
type ChangeOutcome = "made" | "not made" | "unknown";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown): boolean =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0);

const textOf = (value: unknown): string => JSON.stringify(value) ?? "";

/** Returns whether two lists have the same elements in any order. */
const hasSameElements = (sent: readonly unknown[], reported: readonly unknown[]): boolean =>
  isDeepStrictEqual([...sent].map(textOf).sort(), [...reported].map(textOf).sort());

/** Keys whose values are maps, which a PATCH replaces completely. */
const mapKeys = ["env"];

/** Compares each sent value with the record; values missing from the record are skipped. */
function compareValues(sent: Record<string, unknown>, reported: Record<string, unknown>): boolean[] {
  return Object.entries(sent).flatMap(([key, value]) => {
    if (value === undefined || !(key in reported)) return [];
    const reportedValue = reported[key];
    if (isEmpty(value) && isEmpty(reportedValue)) return [true];
    if (isObject(value) && isObject(reportedValue) && !mapKeys.includes(key))
      return compareValues(value, reportedValue);
    if (Array.isArray(value) && Array.isArray(reportedValue)) {
      // Responses add the memory to each CPU choice.
      const elements = reportedValue.map((item) =>
        isObject(item) ? { id: item["id"], vcpuCount: item["vcpuCount"] } : item,
      );
      return [hasSameElements(value, elements)];
    }
    return [isDeepStrictEqual(value, reportedValue)];
  });
}

/**
 * Compares the body of a PATCH with the record returned by a read. A PATCH of REST v2 is atomic, so a single different value proves that it
 * was not applied. The result is unknown if the record contains none of the values.
 */
export function changeOutcome(body: object, record: unknown): ChangeOutcome {
  if (!isObject(record)) return "unknown";
  const results = compareValues({ ...body }, record);
  if (results.length === 0) return "unknown";
  return results.every(Boolean) ? "made" : "not made";
}

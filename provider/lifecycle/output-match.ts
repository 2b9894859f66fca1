import { showValue } from "serverless-compute-api/shapes";

/** One place where an output is not what was expected. */
export interface Mismatch {
  /** Path such as `output.items.0.text`. */
  path: string;
  expected: string;
  got: string;
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const kindOf = (value: unknown): string => {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return isObject(value) ? "an object" : showValue(value);
};

/**
 * Compares an output with what it must contain: an object may have more properties than expected, wherever it stands;
 * a list must have the same elements in the same order; everything else must be equal.
 */
export function mismatches(expected: unknown, got: unknown, path = "output"): Mismatch[] {
  if (Array.isArray(expected) && Array.isArray(got)) {
    if (expected.length !== got.length) return [{ path, expected: kindOf(expected), got: kindOf(got) }];
    return expected.flatMap((one, index) => mismatches(one, got[index], `${path}.${index}`));
  }
  if (isObject(expected) && isObject(got)) {
    const found = new Map<string, unknown>(Object.entries(got));
    return Object.entries(expected).flatMap(([key, one]) => mismatches(one, found.get(key), `${path}.${key}`));
  }
  if (Object.is(expected, got) || (expected === 0 && got === 0)) return [];
  return [{ path, expected: isObject(expected) ? showValue(expected) : kindOf(expected), got: kindOf(got) }];
}

/** Lines that a message shows at most. */
const shown = 20;

/** Mismatches as lines: `output.text: expected "pong", got "ping"`. */
export function mismatchLines(found: Mismatch[]): string[] {
  const lines = found.slice(0, shown).map(({ path, expected, got }) => `${path}: expected ${expected}, got ${got}`);
  return found.length > shown ? [...lines, `and ${found.length - shown} more`] : lines;
}

import { createRedaction } from "serverless-compute-api/redaction";
import { showValue } from "serverless-compute-api/shapes";
import { isRecord, type Path } from "../../engine/values";
import type { Secrets } from "../../framework/contract";
import { containsSecret, hiddenValue } from "../../framework/properties/secret-paths";

/** Difference between the expected and the actual output. */
interface Mismatch {
  /** Path such as `output`, `items`, `0`, `text`. */
  path: Path;
  expected: unknown;
  actual: unknown;
}

const describeValue = (value: unknown, redact: (text: string) => string): string => {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return isRecord(value) ? "an object" : showValue(value, redact);
};

/**
 * Compares an output with the expected output. Objects at any depth may have additional properties; a list must have the same
 * elements in the same order; all other values must be equal.
 */
export function findMismatches(expected: unknown, actual: unknown, path: Path = ["output"]): Mismatch[] {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length) return [{ path, expected, actual }];
    return expected.flatMap((item, index) => findMismatches(item, actual[index], [...path, String(index)]));
  }
  if (isRecord(expected) && isRecord(actual)) {
    const actualValues = new Map<string, unknown>(Object.entries(actual));
    return Object.entries(expected).flatMap(([key, value]) =>
      findMismatches(value, actualValues.get(key), [...path, key]),
    );
  }
  if (Object.is(expected, actual) || (expected === 0 && actual === 0)) return [];
  return [{ path, expected, actual }];
}

/** Maximum number of lines in a message. */
const maxLines = 20;

/**
 * Formats mismatches as lines such as `output.text: expected "pong", got "ping"`. If the input, the request or the expected output
 * contains a secret, the actual output is hidden. Secrets in all other values are redacted.
 */
export function formatMismatches(mismatches: Mismatch[], { paths, values }: Secrets): string[] {
  const redact = createRedaction(values);
  const isHidden = [["input"], ["expect", "output"], ["request"]].some((path) => containsSecret(path, paths));
  const expectedText = (path: Path, value: unknown): string => {
    const root = path[0] === "body" ? ["request", "expect"] : ["expect"];
    if (containsSecret([...root, ...path], paths)) return hiddenValue;
    return isRecord(value) ? showValue(value, redact) : describeValue(value, redact);
  };
  const lines = mismatches
    .slice(0, maxLines)
    .map(
      ({ path, expected, actual }) =>
        `${path.join(".")}: expected ${expectedText(path, expected)}, got ${isHidden && actual !== undefined ? hiddenValue : describeValue(actual, redact)}`,
    );
  return mismatches.length > maxLines ? [...lines, `and ${mismatches.length - maxLines} more`] : lines;
}

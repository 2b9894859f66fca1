import { createRedaction } from "serverless-compute-api/redaction";
import { showValue } from "serverless-compute-api/shapes";
import type { Path, Secrets } from "../../lifecycle/contract";
import { containsSecret, hiddenValue } from "../../lifecycle/properties/secret-paths";

/** Difference between the expected and the actual output. */
interface Mismatch {
  /** Path such as `output`, `items`, `0`, `text`. */
  path: Path;
  expected: unknown;
  got: unknown;
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const kindOf = (value: unknown, redact: (text: string) => string): string => {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return isObject(value) ? "an object" : showValue(value, redact);
};

/**
 * Compares an output with the expected output. Objects at any depth may have additional properties; a list must have the same
 * elements in the same order; all other values must be equal.
 */
export function mismatches(expected: unknown, got: unknown, path: Path = ["output"]): Mismatch[] {
  if (Array.isArray(expected) && Array.isArray(got)) {
    if (expected.length !== got.length) return [{ path, expected, got }];
    return expected.flatMap((item, index) => mismatches(item, got[index], [...path, String(index)]));
  }
  if (isObject(expected) && isObject(got)) {
    const found = new Map<string, unknown>(Object.entries(got));
    return Object.entries(expected).flatMap(([key, value]) => mismatches(value, found.get(key), [...path, key]));
  }
  if (Object.is(expected, got) || (expected === 0 && got === 0)) return [];
  return [{ path, expected, got }];
}

/** Maximum number of lines in a message. */
const maxLines = 20;

/**
 * Formats mismatches as lines such as `output.text: expected "pong", got "ping"`. If the input, the request or the expected output
 * contains a secret, the actual output is hidden. Secrets in all other values are redacted.
 */
export function mismatchLines(found: Mismatch[], { paths, values }: Secrets = { paths: [], values: [] }): string[] {
  const redact = createRedaction(values);
  const isHidden = [["input"], ["expect", "output"], ["request"]].some((at) => containsSecret(at, paths));
  const expectedText = (path: Path, value: unknown): string => {
    const root = path[0] === "body" ? ["request", "expect"] : ["expect"];
    if (containsSecret([...root, ...path], paths)) return hiddenValue;
    return isObject(value) ? showValue(value, redact) : kindOf(value, redact);
  };
  const lines = found
    .slice(0, maxLines)
    .map(
      ({ path, expected, got }) =>
        `${path.join(".")}: expected ${expectedText(path, expected)}, got ${isHidden && got !== undefined ? hiddenValue : kindOf(got, redact)}`,
    );
  return found.length > maxLines ? [...lines, `and ${found.length - maxLines} more`] : lines;
}

import { createRedaction } from "serverless-compute-api/redaction";
import { showValue } from "serverless-compute-api/shapes";
import type { Path, Secrets } from "../../lifecycle/contract";
import { hiddenValue, holdsSecret } from "../../lifecycle/properties/secret-paths";

/** One place where an output is not what was expected. */
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
 * Compares an output with what it must contain: an object may have more properties than expected, wherever it stands;
 * a list must have the same elements in the same order; everything else must be equal.
 */
export function mismatches(expected: unknown, got: unknown, path: Path = ["output"]): Mismatch[] {
  if (Array.isArray(expected) && Array.isArray(got)) {
    if (expected.length !== got.length) return [{ path, expected, got }];
    return expected.flatMap((one, index) => mismatches(one, got[index], [...path, String(index)]));
  }
  if (isObject(expected) && isObject(got)) {
    const found = new Map<string, unknown>(Object.entries(got));
    return Object.entries(expected).flatMap(([key, one]) => mismatches(one, found.get(key), [...path, key]));
  }
  if (Object.is(expected, got) || (expected === 0 && got === 0)) return [];
  return [{ path, expected, got }];
}

/** Lines that a message shows at most. */
const shown = 20;

/**
 * Mismatches as lines: `output.text: expected "pong", got "ping"`. An output that was made of something secret, or has to
 * be something secret, is as secret as that; other values are shown without the secrets in them.
 */
export function mismatchLines(found: Mismatch[], { paths, values }: Secrets = { paths: [], values: [] }): string[] {
  const redact = createRedaction(values);
  const isHidden = [["input"], ["expect", "output"], ["request"]].some((at) => holdsSecret(at, paths));
  const wanted = (path: Path, value: unknown): string => {
    const of = path[0] === "body" ? ["request", "expect"] : ["expect"];
    if (holdsSecret([...of, ...path], paths)) return hiddenValue;
    return isObject(value) ? showValue(value, redact) : kindOf(value, redact);
  };
  const lines = found
    .slice(0, shown)
    .map(
      ({ path, expected, got }) =>
        `${path.join(".")}: expected ${wanted(path, expected)}, got ${isHidden && got !== undefined ? hiddenValue : kindOf(got, redact)}`,
    );
  return found.length > shown ? [...lines, `and ${found.length - shown} more`] : lines;
}

import { type Bounds, expectation, propertyNamesAt, rangeRule, showValue } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { ServiceError } from "./errors";

/** Properties whose values must not appear in messages, at any depth. */
const hiddenProperties = new Set([
  "value",
  "username",
  "password",
  "env",
  "s3Config",
  "input",
  "variables",
  // An address may contain a password or a token.
  "webhook",
]);

/** Returns whether the value at a path must not appear in messages. */
export const isHidden = (path: readonly PropertyKey[]): boolean =>
  path.some((step) => hiddenProperties.has(String(step)));

/**
 * Parses a request's content by its shape. Throws a ServiceError of `code` that lists the invalid properties, such as
 * `gpuCount: 0 is not allowed; must be 1 or more`, without values that may be secret: `password: must not be empty`.
 */
export function parseInput<Shape extends z.ZodType>(
  shape: Shape,
  input: unknown,
  code: "invalid" | "unprocessable" = "invalid",
): z.output<Shape> {
  const result = shape.safeParse(input);
  if (result.success) return result.data;
  const faults = [...new Set(result.error.issues.map((issue) => describe(issue, shape, input)))];
  throw new ServiceError(code, faults.join("; "), {}, faults);
}

/** Parses a request of REST v2, which returns 422 for an invalid shape. */
export const parseV2 = <Shape extends z.ZodType>(shape: Shape, input: unknown): z.output<Shape> =>
  parseInput(shape, input, "unprocessable");

/** A part that the store would change: it truncates a text at a null character and replaces an unpaired surrogate. */
export const unstorablePart = (text: string): string | undefined => {
  if (text.includes("\0")) return "a null character";
  return /\p{Surrogate}/u.test(text) ? "an unpaired surrogate" : undefined;
};

/** Maximum number of faults that no shape finds; a body may contain many, and each names its path. */
const maxTextFaults = 20;

/**
 * Adds the faults that no shape finds: texts that the store would change, and the variable that zod omits from `env`. `path` is not copied
 * for each value, because a body may be deep and wide.
 */
function addTextFaults(value: unknown, path: string[], faults: string[]): void {
  if (faults.length === maxTextFaults) return;
  if (typeof value === "string") {
    const part = unstorablePart(value);
    if (part !== undefined) faults.push(`${path.join(".") || "body"}: must not contain ${part}`);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    path.push(key);
    if (key === "__proto__" && path.at(-2) === "env") faults.push(`${path.join(".")}: is not allowed`);
    else addTextFaults(member, path, faults);
    path.pop();
  }
}

/** Throws a ServiceError of `code` if a parsed text contains what the store would change or zod would omit. */
export function checkTexts(input: unknown, code: "invalid" | "unprocessable"): void {
  const faults: string[] = [];
  addTextFaults(input, [], faults);
  if (faults.length > 0) throw new ServiceError(code, faults.join("; "), {}, faults);
}

/** The error for a whole number that is sent as text or out of bounds, with the message of `parseInput`. */
export const outOfBounds = (property: string, input: unknown, bounds: Bounds): ServiceError =>
  new ServiceError("invalid", `${property}: ${showValue(input)} is not allowed; ${rangeRule(bounds)}`);

function describe(issue: z.core.$ZodIssue, shape: z.ZodType, input: unknown): string {
  if (issue.code === "unrecognized_keys") {
    const names = propertyNamesAt(shape, issue.path);
    const allowed = names.length > 0 ? `; expected one of ${names.join(", ")}` : "";
    return issue.keys
      .map((key) => `${[...issue.path, key].map(String).join(".")}: unknown property${allowed}`)
      .join("; ");
  }
  if (issue.path.length === 0) {
    return `body: ${issue.code === "invalid_type" ? "must be a JSON object" : expectation(issue)}`;
  }
  const path = issue.path.map(String).join(".");
  const allowed = expectation(issue, shape);
  const value = valueAt(input, issue.path);
  if (value === undefined && ["invalid_type", "invalid_value", "invalid_union"].includes(issue.code))
    return `${path}: is required and ${allowed}`;
  return isHidden(issue.path) ? `${path}: ${allowed}` : `${path}: ${showValue(value)} is not allowed; ${allowed}`;
}

function valueAt(root: unknown, path: PropertyKey[]): unknown {
  let current = root;
  for (const step of path) {
    if (typeof current !== "object" || current === null) return undefined;
    current = Object.getOwnPropertyDescriptor(current, step)?.value;
  }
  return current;
}

import { expectation, showValue } from "serverless-compute-api/shapes";
import { z } from "zod";
import { ServiceError } from "./errors";

/** What a number may be, both ends included. */
export interface Bounds {
  min: number;
  max: number;
}

/** Properties whose values no message shows, wherever they stand. */
const hidden = new Set(["value", "password", "env", "s3Config", "input"]);

/**
 * Reads what a client sent by its shape. What does not fit is a ServiceError `invalid` that names each fault:
 * `property: what was sent is not allowed, what is`. Values that may be secret are not shown.
 */
export function parseInput<Shape extends z.ZodType>(shape: Shape, sent: unknown): z.output<Shape> {
  const result = shape.safeParse(sent);
  if (result.success) return result.data;
  throw new ServiceError("invalid", result.error.issues.map((issue) => describe(issue, shape, sent)).join("; "));
}

/** The fault of a whole number that a client sent as text or out of bounds, in the words of `parseInput`. */
export const outOfBounds = (property: string, sent: unknown, bounds: Bounds): ServiceError =>
  new ServiceError("invalid", `${property}: ${showValue(sent)} is not allowed, ${within(bounds)}`);

const within = ({ min, max }: Bounds): string => `must be a whole number from ${min} to ${max}`;

function describe(issue: z.core.$ZodIssue, shape: z.ZodType, sent: unknown): string {
  if (issue.path.length === 0) {
    return `body: ${issue.code === "invalid_type" ? "must be a JSON object" : expectation(issue)}`;
  }
  const path = issue.path.map(String).join(".");
  const bounds = boundsAt(shape, issue.path);
  const allowed = bounds ? within(bounds) : expectation(issue);
  const value = valueAt(sent, issue.path);
  if (value === undefined && issue.code === "invalid_type") return `${path}: is required, ${allowed}`;
  const secret = issue.path.some((step) => hidden.has(String(step)));
  return `${path}: ${secret ? "what was sent" : showValue(value)} is not allowed, ${allowed}`;
}

function valueAt(root: unknown, path: PropertyKey[]): unknown {
  let at = root;
  for (const step of path) {
    if (typeof at !== "object" || at === null) return undefined;
    at = Object.getOwnPropertyDescriptor(at, step)?.value;
  }
  return at;
}

/** The bounds of a whole number that has two of them, so that a message names both, not only the one that was passed. */
function boundsAt(root: z.core.$ZodType, path: PropertyKey[]): Bounds | undefined {
  let at: z.core.$ZodType | undefined = inner(root);
  for (const step of path) {
    if (at instanceof z.ZodObject) at = at.shape[String(step)];
    else if (at instanceof z.ZodArray) at = at.element;
    else return undefined;
    at = at && inner(at);
  }
  if (!(at instanceof z.ZodNumber) || !at.isInt) return undefined;
  const { minValue: min, maxValue: max } = at;
  // Every whole number has the bounds that numbers have themselves; those are worth no word.
  if (min === null || max === null || min <= Number.MIN_SAFE_INTEGER || max >= Number.MAX_SAFE_INTEGER)
    return undefined;
  return { min, max };
}

/** The shape without what only says that it may be absent, null or converted. */
function inner(shape: z.core.$ZodType): z.core.$ZodType {
  if (shape instanceof z.ZodOptional || shape instanceof z.ZodNullable || shape instanceof z.ZodDefault) {
    return inner(shape.def.innerType);
  }
  return shape instanceof z.ZodPipe ? inner(shape.def.out) : shape;
}

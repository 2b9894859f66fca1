import { z } from "zod";

const types: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** Bounds of a number, inclusive. */
export interface Bounds {
  min: number;
  max: number;
}

/** Returns the end of a message about the bounds of a whole number. */
export const within = ({ min, max }: Bounds): string => `must be a whole number from ${min} to ${max}`;

/**
 * Returns the end of a message about `issue`, such as `must be 0 or more`. If a whole number has two bounds, the message
 * contains both. It never contains the value.
 */
export function expectation(issue: z.core.$ZodIssue, shape?: z.core.$ZodType): string {
  const bounds = shape && issue.code !== "custom" && boundsAt(shape, issue.path);
  return bounds ? within(bounds) : ruleOf(issue);
}

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${types[issue.expected] ?? issue.expected}`;
    case "too_small":
      if (issue.origin !== "string") return `must be ${issue.minimum} or more`;
      return issue.minimum === 1 ? "must not be empty" : `must have ${issue.minimum} characters or more`;
    case "too_big":
      return issue.origin === "string"
        ? `must have ${issue.maximum} characters or fewer`
        : `must be ${issue.maximum} or less`;
    case "invalid_value":
      return `must be ${issue.values.map((one) => JSON.stringify(one)).join(" or ")}`;
    case "invalid_union":
      return issue.errors[0]?.[0] ? ruleOf(issue.errors[0][0]) : "must have another form";
    case "invalid_format":
      return issue.message.startsWith("Invalid") ? `must be a valid ${issue.format}` : `must be ${issue.message}`;
    case "unrecognized_keys":
      return `must not have ${issue.keys.map((key) => `"${key}"`).join(", ")}`;
    case "invalid_key":
      return "must not have an empty name";
    default:
      return issue.message;
  }
}

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
  // The bounds of safe integers, which every whole number has, are not mentioned.
  if (min === null || max === null || min <= Number.MIN_SAFE_INTEGER || max >= Number.MAX_SAFE_INTEGER)
    return undefined;
  return { min, max };
}

/** Unwraps optional, nullable, default, lazy and pipe shapes. */
function inner(shape: z.core.$ZodType): z.core.$ZodType {
  if (shape instanceof z.ZodLazy) return inner(shape.unwrap());
  if (shape instanceof z.ZodOptional || shape instanceof z.ZodNullable || shape instanceof z.ZodDefault) {
    return inner(shape.def.innerType);
  }
  return shape instanceof z.ZodPipe ? inner(shape.def.out) : shape;
}

import { z } from "zod";
import { showChoices } from "../show-value";
import { limits } from "./limits";

const typeNames: Record<string, string> = {
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
export const rangeRule = ({ min, max }: Bounds): string => `must be a whole number from ${min} to ${max}`;

/**
 * Returns the end of a message about `issue`, such as `must be 0 or more`. If a whole number has two bounds, the message
 * contains both. It never contains the value.
 */
export function expectation(issue: z.core.$ZodIssue, shape?: z.core.$ZodType): string {
  const bounds = shape && issue.code !== "custom" && boundsAt(shape, issue.path);
  return bounds ? rangeRule(bounds) : ruleOf(issue);
}

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeNames[issue.expected] ?? issue.expected}`;
    case "too_small":
      if (issue.origin !== "string") return `must be ${issue.minimum} or more`;
      return issue.minimum === 1 ? "must not be empty" : `must have ${issue.minimum} characters or more`;
    case "too_big":
      return issue.origin === "string"
        ? `must have ${issue.maximum} characters or fewer`
        : `must be ${issue.maximum} or less`;
    case "invalid_value":
      return `must be ${showChoices(issue.values)}`;
    case "invalid_union":
      if ("options" in issue && issue.options) return `must be ${showChoices(issue.options)}`;
      return issue.errors[0]?.[0] ? ruleOf(issue.errors[0][0]) : "must have another form";
    case "invalid_format":
      // A pattern or an address always has a message, which describes the valid texts.
      return issue.format === "regex" || issue.format === "url"
        ? `must be ${issue.message}`
        : `must be a valid ${issue.format}`;
    case "unrecognized_keys":
      return `must not have ${issue.keys.map((key) => `"${key}"`).join(", ")}`;
    case "invalid_key":
      return issue.issues[0]?.code === "invalid_format" ? ruleOf(issue.issues[0]) : "must not have an empty name";
    default:
      return issue.message;
  }
}

/** Names of the properties of the object at a path; empty if the shape has no object there. */
export function propertyNamesAt(root: z.core.$ZodType, path: PropertyKey[]): string[] {
  const shape = shapeAt(root, path);
  return shape instanceof z.ZodObject ? Object.keys(shape.shape) : [];
}

function shapeAt(root: z.core.$ZodType, path: PropertyKey[]): z.core.$ZodType | undefined {
  let current: z.core.$ZodType | undefined = unwrap(root);
  for (const key of path) {
    if (current instanceof z.ZodObject) current = current.shape[String(key)];
    else if (current instanceof z.ZodArray) current = current.element;
    else if (current instanceof z.ZodRecord) current = current.valueType;
    else return undefined;
    current = current && unwrap(current);
  }
  return current;
}

function boundsAt(root: z.core.$ZodType, path: PropertyKey[]): Bounds | undefined {
  const shape = shapeAt(root, path);
  if (!(shape instanceof z.ZodNumber) || !shape.isInt) return undefined;
  const { minValue: min, maxValue: max } = shape;
  // A maximum that only excludes nonsense is mentioned only if it is exceeded.
  if (min === null || max === null || min <= Number.MIN_SAFE_INTEGER || max >= limits.number) return undefined;
  return { min, max };
}

/** Unwraps optional, nullable, default, lazy and pipe shapes. */
function unwrap(shape: z.core.$ZodType): z.core.$ZodType {
  if (shape instanceof z.ZodLazy) return unwrap(shape.unwrap());
  if (shape instanceof z.ZodOptional || shape instanceof z.ZodNullable || shape instanceof z.ZodDefault) {
    return unwrap(shape.def.innerType);
  }
  return shape instanceof z.ZodPipe ? unwrap(shape.def.out) : shape;
}

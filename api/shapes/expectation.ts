import type { z } from "zod";

const types: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** What a shape allows where `issue` was found, as the end of a sentence: `must be 0 or more`. Never shows the value. */
export function expectation(issue: z.core.$ZodIssue): string {
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
      return issue.errors[0]?.[0] ? expectation(issue.errors[0][0]) : "must have another form";
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

/** A value as a message shows it: JSON, cut after 80 characters. Not for values that may be secret. */
export function showValue(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

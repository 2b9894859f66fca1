import { maxNesting } from "serverless-compute-api/json-text";
import { type Bounds, expectation, propertyNamesAt, rangeRule, showValue } from "serverless-compute-api/shapes";
import { z } from "zod";
import { type Issue, invalidProperty, issueText, type ObjectKind, ServiceError } from "./errors";

/** Properties whose values must not appear in messages, at any depth. */
const hiddenProperties = new Set([
  "value",
  "username",
  "password",
  "env",
  "s3Config",
  "input",
  "variables",
  // An address may contain a password or a token, and so may a start command.
  "webhook",
  "args",
  "cmd",
  "entrypoint",
  "dockerArgs",
  "dockerStartCmd",
  "dockerEntrypoint",
  "startScript",
]);

/** Returns whether the value at a path must not appear in messages. */
export const isHidden = (path: readonly PropertyKey[]): boolean =>
  path.some((step) => hiddenProperties.has(String(step)));

/**
 * Parses a request's content by its shape. Throws a ServiceError of `code` that lists the invalid properties, such as
 * `gpuCount: 0 is not allowed; must be 1 or more`, without values that may be secret: `password: must not be empty`.
 * `of` is the kind of object whose properties the shape has, if it is not the shape of the request.
 */
export function parseInput<Shape extends z.ZodType>(
  shape: Shape,
  input: unknown,
  { code = "invalid", of }: { code?: "invalid" | "unprocessable"; of?: ObjectKind } = {},
): z.output<Shape> {
  const result = shape.safeParse(input, { reportInput: true });
  if (result.success) return result.data;
  const issues = new Map<string, Issue>();
  for (const issue of withoutFollowers(result.error.issues).flatMap((zodIssue) => describe(zodIssue, shape, input)))
    issues.set(issueText(issue), { ...issue, of });
  throw new ServiceError(code, [...issues.values()]);
}

/** Removes other issues about a value of the wrong type: zod checks the length of a list even if a text is required. */
function withoutFollowers(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const keyOf = ({ path }: z.core.$ZodIssue): string => JSON.stringify(path);
  const mistyped = new Set(issues.filter(({ code }) => code === "invalid_type").map(keyOf));
  return issues.filter((issue) => issue.code === "invalid_type" || !mistyped.has(keyOf(issue)));
}

/** A decimal integer in a query; other number formats and the empty string are rejected. */
export const queryInteger = (min: number, max: number) =>
  z.string().regex(/^\d+$/, "a whole number").transform(Number).pipe(z.int().min(min).max(max));

/** Parses a request of REST v2, which returns 422 for an invalid shape. */
export const parseV2 = <Shape extends z.ZodType>(shape: Shape, input: unknown): z.output<Shape> =>
  parseInput(shape, input, { code: "unprocessable" });

/** A part that the store would change: it truncates a text at a null character and replaces an unpaired surrogate. */
export const unstorablePart = (text: string): string | undefined => {
  if (text.includes("\0")) return "a null character";
  return /\p{Surrogate}/u.test(text) ? "an unpaired surrogate" : undefined;
};

/** Path of the whole body. */
const wholeBody = ["body"];

/** Maximum number of issues that no shape finds; a body may contain many, and each names its path. */
const maxTextIssues = 20;

/**
 * Adds the issues that no shape finds: texts that the store would change, and the variable that zod omits from `env`. Throws a ServiceError
 * `invalid` above `maxNesting`. `path` is only copied for an issue, because a body may be deep and wide.
 */
function addTextIssues(value: unknown, path: string[], issues: Issue[]): void {
  if (issues.length === maxTextIssues) return;
  if (typeof value === "string") {
    const part = unstorablePart(value);
    if (part !== undefined)
      issues.push({ path: path.length === 0 ? wholeBody : [...path], text: `must not contain ${part}` });
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (path.length === maxNesting)
    throw new ServiceError("invalid", `body: must not nest deeper than ${maxNesting} levels`);
  for (const [key, member] of Object.entries(value)) {
    path.push(key);
    if (key === "__proto__" && path.at(-2) === "env") issues.push({ path: [...path], text: "is not allowed" });
    else addTextIssues(member, path, issues);
    path.pop();
  }
}

/**
 * Checks a parsed text in one walk: throws a ServiceError of `code` if it contains what the store would change or zod would omit, and
 * `invalid` if it nests too deeply.
 */
export function checkParsedText(input: unknown, code: "invalid" | "unprocessable"): void {
  const issues: Issue[] = [];
  addTextIssues(input, [], issues);
  if (issues.length > 0) throw new ServiceError(code, issues);
}

/** The error for a whole number that is sent as text or out of bounds, with the message of `parseInput`. */
export const outOfBounds = (property: string, input: unknown, bounds: Bounds): ServiceError =>
  invalidProperty(property, `${showValue(input)} is not allowed; ${rangeRule(bounds)}`);

/** A rule whose text names other properties. */
const namingRule = z.object({ text: z.custom<Exclude<Issue["text"], string>>((value) => typeof value === "function") });

/** The end of the text about an issue, such as `must be 0 or more`. */
function ruleText(issue: z.core.$ZodIssue, shape: z.ZodType): Issue["text"] {
  const naming = issue.code === "custom" ? namingRule.safeParse(issue.params).data : undefined;
  return naming?.text ?? expectation(issue, shape);
}

function describe(issue: z.core.$ZodIssue, shape: z.ZodType, input: unknown): Issue[] {
  const { path, code } = issue;
  if (code === "unrecognized_keys") {
    const names = propertyNamesAt(shape, path);
    const text: Issue["text"] = (nameOf) => {
      const shownNames = path.length === 0 ? names.map(nameOf).filter((name) => name !== "") : names;
      return `unknown property${shownNames.length > 0 ? `; expected one of ${shownNames.join(", ")}` : ""}`;
    };
    return issue.keys.map((key) => ({ path: [...path, key], text }));
  }
  if (path.length === 0)
    return [{ path: wholeBody, text: code === "invalid_type" ? "must be a JSON object" : expectation(issue) }];
  const allowed = ruleText(issue, shape);
  // A rule of our own and a union name a property of the value that they check; any other issue has the value, such as a part of a text.
  const value = code === "custom" || code === "invalid_union" ? valueAt(input, path) : issue.input;
  const isMissing = value === undefined && ["invalid_type", "invalid_value", "invalid_union"].includes(code);
  const isShown = value !== undefined && !isHidden(path);
  const subject = isMissing ? "is required and " : isShown ? `${showValue(value)} is not allowed; ` : "";
  const text: Issue["text"] =
    typeof allowed === "string" ? `${subject}${allowed}` : (nameOf) => `${subject}${allowed(nameOf)}`;
  return [{ path, text }];
}

function valueAt(root: unknown, path: PropertyKey[]): unknown {
  let current = root;
  for (const step of path) {
    if (typeof current !== "object" || current === null) return undefined;
    current = Object.getOwnPropertyDescriptor(current, step)?.value;
  }
  return current;
}

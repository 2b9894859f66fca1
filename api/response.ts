import { z } from "zod";
import { type ApiError, type RequestInfo, unexpectedResponse } from "./errors";

/** Response to one attempt. */
export interface ApiResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** Value of the text, undefined if it is not JSON. */
  body: unknown;
}

/** Error bodies of the service: REST v1 has `message`, the job API `error`, REST v2 `detail` with `errors`, or `title`. */
const errorBody = z.lazy(() =>
  z
    .looseObject({
      message: z.string().optional(),
      error: z.string().optional(),
      detail: z.string().optional(),
      title: z.string().optional(),
      errors: z.array(z.string()).optional().catch(undefined),
    })
    .transform(({ message, error, detail, title, errors = [] }) => {
      const text = message ?? error ?? detail ?? title;
      return text === undefined || errors.length === 0 ? text : `${text.replace(/[.:]$/, "")}: ${errors.join("; ")}`;
    }),
);

/** The errors of a GraphQL response; the key is absent on success. */
const graphqlErrors = z.lazy(() =>
  z.looseObject({ errors: z.array(z.looseObject({ message: z.string() })).optional() }),
);

/** Maximum length of the service's text in an error, in characters. */
const maxTextLength = 500;

/** A response header; the first of repeated headers. */
export function headerOf(response: ApiResponse, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Parses a JSON text; returns undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** Returns the first error message of a GraphQL response; undefined without errors. */
export function graphqlErrorText(body: unknown): string | undefined {
  const { data } = graphqlErrors.safeParse(body);
  const first = data?.errors?.[0];
  return first && (first.message || "the service returned no reason");
}

/** Returns the error text of an unsuccessful response; empty if there is none. Must be redacted before it is shortened. */
export function errorTextOf(response: ApiResponse): string {
  const { text, body } = response;
  if (typeof body === "string") return body;
  if (body !== undefined) return graphqlErrorText(body) ?? errorBody.safeParse(body).data ?? "";
  const location = headerOf(response, "location");
  if (location !== undefined) return `HTTP ${response.status}: redirects to ${location}`;
  if (/^\s*<(!doctype|html)/i.test(text)) {
    const title = /<title>([^<]*)<\/title>/i.exec(text)?.[1]?.trim();
    return `received an HTML page${title ? `: "${title}"` : ""} (HTTP ${response.status})`;
  }
  return text.trim();
}

/** Maximum length of the text that is redacted, which takes half a second per MB. */
const maxRedactedLength = 64 * 1024;

/** Length at the end of a truncated text that may contain a part of a secret that is too short to be recognized. */
const uncertainLength = 256;

/** Control characters, which could change the terminal, except tabs and line breaks. */
const control = /[^\P{Cc}\t\n\r]/gu;

/** A text of the service as the message of an error: redacted, shortened and without control characters. */
export function toMessage(text: string, redact: (text: string) => string): string {
  const redacted = redact(text.slice(0, maxRedactedLength));
  const safe = text.length <= maxRedactedLength ? redacted : `${redacted.slice(0, -uncertainLength)}…`;
  const shortened = safe.length <= maxTextLength ? safe : `${safe.slice(0, maxTextLength - 1)}…`;
  return shortened.replace(control, "?");
}

/** The most specific issue: inside a union, the issue with the deepest path. */
function deepestIssue(issue: z.core.$ZodIssue): { path: PropertyKey[]; message: string } {
  if (issue.code !== "invalid_union") return issue;
  const inner = issue.errors
    .flat()
    .map(deepestIssue)
    .sort((a, b) => b.path.length - a.path.length)[0];
  return inner ? { path: [...issue.path, ...inner.path], message: inner.message } : issue;
}

const fieldName = (path: PropertyKey[]): string =>
  path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "");

/** Describes the first invalid field of a response, without its value. `basePath` is the path of the parsed part of the response. */
function mismatchText({ issues: [first] }: z.ZodError, basePath: PropertyKey[] = []): string {
  const { path, message } = first ? deepestIssue(first) : { path: [], message: "" };
  const fullPath = [...basePath, ...path];
  const subject = fullPath.length > 0 ? `"${fieldName(fullPath)}" in the response` : "the response";
  return `${subject} is invalid: ${message.replace(/^invalid input: /i, "").toLowerCase()}`;
}

/** Parses a response by its shape; throws an ApiError `unexpected_response` that names an invalid field. */
export function parseResponse<Shape extends z.ZodType>(
  value: unknown,
  shape: Shape,
  request: RequestInfo,
  facts: { ambiguous: boolean; status?: number },
): z.output<Shape> {
  if (value === undefined)
    throw unexpectedResponse("response is not valid JSON", request, facts.ambiguous, facts.status);
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw unexpectedResponse(mismatchText(parsed.error), request, facts.ambiguous, facts.status);
}

/** A list element that does not match the shape of its kind. */
export interface UnreadableElement {
  /** The element's id, if it has one. */
  id: string | undefined;
  /** The element's name, if it has one. */
  name: string | undefined;
  /** The error that names the invalid field. */
  error: ApiError;
}

const elementIdentity = z.object({
  id: z.string().min(1).optional().catch(undefined),
  name: z.string().optional().catch(undefined),
});

/**
 * Parses the elements of a list separately, so that an invalid element does not affect the others. Invalid elements are passed to
 * `onUnreadable` and omitted; without `onUnreadable`, the first invalid element throws. `path` is the path of the list in the response.
 */
export function parseElements<Shape extends z.ZodType>(
  elements: readonly unknown[],
  shape: Shape,
  request: RequestInfo,
  options: { path?: PropertyKey[]; status?: number; onUnreadable?: ((element: UnreadableElement) => void) | undefined },
): z.output<Shape>[] {
  const { path = [], status, onUnreadable } = options;
  return elements.flatMap((element, index) => {
    const parsed = shape.safeParse(element);
    if (parsed.success) return [parsed.data];
    const error = unexpectedResponse(mismatchText(parsed.error, [...path, index]), request, false, status);
    if (!onUnreadable) throw error;
    const { id, name } = elementIdentity.safeParse(element).data ?? { id: undefined, name: undefined };
    onUnreadable({ id, name, error });
    return [];
  });
}

import type { z } from "zod";
import { type RequestFacts, unexpectedAnswer } from "./errors";
import { graphqlErrors, wireError } from "./shapes";

/** What came back for one try. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Longest text of the service that goes into an error. */
const longestText = 500;

/** One header of an answer, the first where it came several times. */
export function headerOf(answer: Answer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** A JSON text's value, undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** The message of a GraphQL answer that holds errors, undefined when it holds none. */
export function graphqlRefusal(text: string): string | undefined {
  const { data } = graphqlErrors.safeParse(parseJson(text));
  const first = data?.errors?.[0];
  return first && (first.message || "the service refused without a reason");
}

/** What an answer that is no success says in words, empty when it says nothing; redact it before cutting it. */
export function refusalText(answer: Answer): string {
  const { text } = answer;
  const body = parseJson(text);
  if (typeof body === "string") return body;
  if (body !== undefined) return graphqlRefusal(text) ?? wireError.safeParse(body).data ?? "";
  const location = headerOf(answer, "location");
  if (location !== undefined) return `HTTP ${answer.status}: the address leads on to ${location}`;
  if (/^\s*<(!doctype|html)/i.test(text)) {
    const title = /<title>([^<]*)<\/title>/i.exec(text)?.[1]?.trim();
    return `an HTML page came back${title ? `: "${title}"` : ""} (HTTP ${answer.status})`;
  }
  return text.trim();
}

/** Keeps a text short enough for a message. */
export const shorten = (text: string): string =>
  text.length <= longestText ? text : `${text.slice(0, longestText - 1)}…`;

/** The issue worth telling: inside a union, the one of the branch that got furthest. */
function deepest(issue: z.core.$ZodIssue): { path: PropertyKey[]; message: string } {
  if (issue.code !== "invalid_union") return issue;
  const inner = issue.errors
    .flat()
    .map(deepest)
    .sort((a, b) => b.path.length - a.path.length)[0];
  return inner ? { path: [...issue.path, ...inner.path], message: inner.message } : issue;
}

const fieldName = (path: PropertyKey[]): string =>
  path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "");

/** Parses what came back by its shape; an answer that does not fit becomes an ApiError `unexpected_answer` naming the field. */
export function parseAnswer<Shape extends z.ZodType>(
  value: unknown,
  shape: Shape,
  request: RequestFacts,
  facts: { ambiguous: boolean; status?: number },
): z.output<Shape> {
  if (value === undefined) throw unexpectedAnswer("the answer is no JSON", request, facts.ambiguous, facts.status);
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const first = parsed.error.issues[0];
  const { path, message } = first ? deepest(first) : { path: [], message: "" };
  const subject = path.length > 0 ? `"${fieldName(path)}" of the answer` : "the answer";
  const fault = message.replace(/^invalid input: /i, "").toLowerCase();
  throw unexpectedAnswer(`${subject} does not fit: ${fault}`, request, facts.ambiguous, facts.status);
}

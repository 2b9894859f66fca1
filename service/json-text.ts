/**
 * Access to JSON text that is forwarded unchanged. Parsing and serializing would change numbers (12345678901234567891, 1.0) and cost more
 * than finding the boundaries of its members.
 */

/** The error for invalid JSON text. The message follows a subject such as "body: " and does not quote the text. */
export class JsonTextError extends Error {
  override readonly name = "JsonTextError";
}

/** Maximum nesting of lists and objects; many JSON parsers, including Python's, accept no more. */
export const deepestNesting = 1000;

/**
 * The members of a JSON object, with values as text; undefined for any other JSON value. Accepts the same texts as JSON.parse, except
 * nesting above `deepestNesting`. The last of several members with the same name counts.
 */
export function memberTexts(text: string): ReadonlyMap<string, string> | undefined {
  if (firstCode(text) !== codes.openObject) {
    scan(text);
    return undefined;
  }
  const members = new Map<string, string>();
  scan(text, (from, to, name) => members.set(name, text.slice(from, to)));
  return members;
}

/** The elements of a JSON list as text; undefined for any other JSON value. */
export function elementTexts(text: string): string[] | undefined {
  if (firstCode(text) !== codes.openList) {
    scan(text);
    return undefined;
  }
  const elements: string[] = [];
  scan(text, (from, to) => elements.push(text.slice(from, to)));
  return elements;
}

/** Returns whether a value's text, as returned by `memberTexts`, is an object. */
export const isObjectText = (text: string | undefined): boolean => text?.charCodeAt(0) === codes.openObject;

const codes = {
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

const isBlank = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
const isDigit = (code: number): boolean => code >= codes.zero && code <= codes.nine;

/** Receives a value inside the outermost list or object, from its first character to `to`; with `name` in an object. */
type Inner = (from: number, to: number, name: string) => void;

/** Scans a JSON text once, without recursion; throws a JsonTextError if it is invalid. */
function scan(text: string, inner: Inner = () => undefined): void {
  const open: boolean[] = [];
  let at = afterBlanks(text, 0);
  let name = "";
  let from = at;

  // Each iteration reads the beginning of a value, then everything up to the next value.
  for (;;) {
    const code = text.charCodeAt(at);
    if (open.length === 1) from = at;
    if (code === codes.openObject || code === codes.openList) {
      const isObject = code === codes.openObject;
      if (open.length === deepestNesting) throw new JsonTextError(`must not nest deeper than ${deepestNesting} levels`);
      const first = afterBlanks(text, at + 1);
      if (text.charCodeAt(first) !== (isObject ? codes.closeObject : codes.closeList)) {
        open.push(isObject);
        at = isObject ? readName(first) : first;
        continue;
      }
      at = first + 1;
    } else at = scalarEnd(text, at, code);

    // The value ends at `at`, possibly together with its parents.
    for (;;) {
      if (open.length === 1) inner(from, at, name);
      at = afterBlanks(text, at);
      const isObject = open.at(-1);
      if (isObject === undefined) {
        if (at < text.length) throw fault(text, at);
        return;
      }
      const next = text.charCodeAt(at);
      if (next === codes.comma) {
        const following = afterBlanks(text, at + 1);
        at = isObject ? readName(following) : following;
        break;
      }
      if (next !== (isObject ? codes.closeObject : codes.closeList)) throw fault(text, at);
      open.pop();
      at++;
    }
  }

  /** Reads a member's name and its colon; returns the index of its value. */
  function readName(begin: number): number {
    if (text.charCodeAt(begin) !== codes.quote) throw fault(text, begin);
    const end = stringEnd(text, begin);
    if (open.length === 1) name = stringValue(text.slice(begin, end));
    const colon = afterBlanks(text, end);
    if (text.charCodeAt(colon) !== codes.colon) throw fault(text, colon);
    return afterBlanks(text, colon + 1);
  }
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (isBlank(text.charCodeAt(at))) at++;
  return at;
}

const firstCode = (text: string): number => text.charCodeAt(afterBlanks(text, 0));

function stringValue(text: string): string {
  if (!text.includes("\\")) return text.slice(1, -1);
  const value: unknown = JSON.parse(text);
  return String(value);
}

function scalarEnd(text: string, at: number, code: number): number {
  if (code === codes.quote) return stringEnd(text, at);
  if (code === codes.minus || isDigit(code)) return numberEnd(text, at);
  for (const word of ["true", "false", "null"]) if (text.startsWith(word, at)) return at + word.length;
  throw fault(text, at);
}

function stringEnd(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    const code = text.charCodeAt(at);
    if (code === codes.quote) return at + 1;
    if (code === codes.backslash) at = escapeEnd(text, at);
    // NaN, the code after the end of the text, also fails this comparison.
    else if (!(code >= 0x20)) throw fault(text, at);
  }
}

const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Index of the last character of an escape. */
function escapeEnd(text: string, at: number): number {
  escaped.lastIndex = at;
  if (!escaped.test(text)) throw fault(text, at);
  return escaped.lastIndex - 1;
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function numberEnd(text: string, at: number): number {
  number.lastIndex = at;
  if (!number.test(text)) throw fault(text, at);
  return number.lastIndex;
}

const fault = (text: string, at: number): JsonTextError =>
  new JsonTextError(
    at < text.length
      ? `must be valid JSON, it is not from character ${at + 1} on`
      : "must be valid JSON, it ends too early",
  );

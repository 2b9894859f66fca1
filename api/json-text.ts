/**
 * Access to JSON text that is forwarded unchanged. Parsing and serializing would change numbers (12345678901234567891, 1.0), and takes 3
 * times as long for 8 kB. The library `lossless-json` keeps numbers, and takes 10 times as long.
 */

/** The error for invalid JSON text. The message follows a subject such as "body: " and does not quote the text. */
export class JsonTextError extends Error {
  override readonly name = "JsonTextError";
}

/** Maximum nesting of lists and objects; many JSON parsers, including Python's, accept no more. */
export const maxNesting = 1000;

/**
 * The members of a JSON object, with values as text; undefined for any other JSON value. Accepts the same texts as JSON.parse, except
 * nesting above `maxNesting`. The last of several members with the same name counts.
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
type OnValue = (from: number, to: number, name: string) => void;

/** Scans a JSON text once, without recursion; throws a JsonTextError if it is invalid. */
function scan(text: string, onValue: OnValue = () => undefined): void {
  const openObjects: boolean[] = [];
  let index = skipBlanks(text, 0);
  let name = "";
  let valueStart = index;

  // Each iteration reads the beginning of a value, then everything up to the next value.
  for (;;) {
    const code = text.charCodeAt(index);
    if (openObjects.length === 1) valueStart = index;
    if (code === codes.openObject || code === codes.openList) {
      const isObject = code === codes.openObject;
      if (openObjects.length === maxNesting) throw new JsonTextError(`must not nest deeper than ${maxNesting} levels`);
      const first = skipBlanks(text, index + 1);
      if (text.charCodeAt(first) !== (isObject ? codes.closeObject : codes.closeList)) {
        openObjects.push(isObject);
        index = isObject ? readName(first) : first;
        continue;
      }
      index = first + 1;
    } else index = scalarEnd(text, index, code);

    // The value ends at `index`, possibly together with its parents.
    for (;;) {
      if (openObjects.length === 1) onValue(valueStart, index, name);
      index = skipBlanks(text, index);
      const isObject = openObjects.at(-1);
      if (isObject === undefined) {
        if (index < text.length) throw fault(text, index);
        return;
      }
      const next = text.charCodeAt(index);
      if (next === codes.comma) {
        const nextIndex = skipBlanks(text, index + 1);
        index = isObject ? readName(nextIndex) : nextIndex;
        break;
      }
      if (next !== (isObject ? codes.closeObject : codes.closeList)) throw fault(text, index);
      openObjects.pop();
      index++;
    }
  }

  /** Reads a member's name and its colon; returns the index of its value. */
  function readName(start: number): number {
    if (text.charCodeAt(start) !== codes.quote) throw fault(text, start);
    const end = stringEnd(text, start);
    if (openObjects.length === 1) name = stringValue(text.slice(start, end));
    const colon = skipBlanks(text, end);
    if (text.charCodeAt(colon) !== codes.colon) throw fault(text, colon);
    return skipBlanks(text, colon + 1);
  }
}

function skipBlanks(text: string, from: number): number {
  let index = from;
  while (isBlank(text.charCodeAt(index))) index++;
  return index;
}

const firstCode = (text: string): number => text.charCodeAt(skipBlanks(text, 0));

function stringValue(text: string): string {
  if (!text.includes("\\")) return text.slice(1, -1);
  const value: unknown = JSON.parse(text);
  return String(value);
}

function scalarEnd(text: string, index: number, code: number): number {
  if (code === codes.quote) return stringEnd(text, index);
  if (code === codes.minus || isDigit(code)) return numberEnd(text, index);
  for (const word of ["true", "false", "null"]) if (text.startsWith(word, index)) return index + word.length;
  throw fault(text, index);
}

function stringEnd(text: string, from: number): number {
  for (let index = from + 1; ; index++) {
    const code = text.charCodeAt(index);
    if (code === codes.quote) return index + 1;
    if (code === codes.backslash) index = escapeEnd(text, index);
    // NaN, the code after the end of the text, also fails this comparison.
    else if (!(code >= 0x20)) throw fault(text, index);
  }
}

const escapePattern = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Index of the last character of an escape. */
function escapeEnd(text: string, index: number): number {
  escapePattern.lastIndex = index;
  if (!escapePattern.test(text)) throw fault(text, index);
  return escapePattern.lastIndex - 1;
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function numberEnd(text: string, index: number): number {
  numberPattern.lastIndex = index;
  if (!numberPattern.test(text)) throw fault(text, index);
  return numberPattern.lastIndex;
}

/** Constants that Python's JSON encoder writes and JSON does not have. */
const pythonConstant = /NaN|-?Infinity/y;

function fault(text: string, index: number): JsonTextError {
  pythonConstant.lastIndex = index;
  const [constant] = pythonConstant.exec(text) ?? [];
  if (constant !== undefined) return new JsonTextError(`must be valid JSON, which does not have the value ${constant}`);
  return new JsonTextError(
    index < text.length
      ? `must be valid JSON; character ${index + 1} is unexpected`
      : "must be valid JSON; it ends unexpectedly",
  );
}

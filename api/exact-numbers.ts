import type { ApiResponse } from "./response";

/** A number of a JSON text, outside strings. */
const numberToken = /-?\d[\d.eE+-]*/g;

/** Matches each text with a number that may change: 16 digits or an exponent of three digits. */
const mayHaveInexactNumber = /(?:\d\.?){16}|\d[eE][+-]?\d{3}/;

/** Digits and exponent of a finite decimal number, without leading and trailing zeros. */
function decimalOf(text: string): string | undefined {
  const [, sign, whole, fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Returns true if a number keeps its value in JavaScript, except for the rounding of a fraction. */
function isKept(token: string): boolean {
  const value = Number(token);
  if (value !== 0 && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return true;
  return decimalOf(token) === decimalOf(String(value));
}

/** Position after the JSON string that begins at `start`. */
function endOfString(json: string, start: number): number {
  let end = start + 1;
  while (end < json.length && json[end] !== '"') end += json[end] === "\\" ? 2 : 1;
  return end + 1;
}

/** A JSON text in which each number that would change is a string. */
function quoteInexactNumbers(json: string): string {
  const parts: string[] = [];
  for (let position = 0; position < json.length; ) {
    const quote = json.indexOf('"', position);
    const start = quote === -1 ? json.length : quote;
    parts.push(json.slice(position, start).replace(numberToken, (token) => (isKept(token) ? token : `"${token}"`)));
    position = endOfString(json, start);
    parts.push(json.slice(start, position));
  }
  return parts.join("");
}

/**
 * The body of a response, in which a number that JavaScript cannot represent is text with its digits: an integer such as
 * 12345678901234567890, or a number outside the range of a double, such as 1e400. Fractions are rounded as usual.
 */
export function exactBodyOf({ body, text }: Pick<ApiResponse, "body" | "text">): unknown {
  if (body === undefined || !mayHaveInexactNumber.test(text)) return body;
  const exact: unknown = JSON.parse(quoteInexactNumbers(text));
  return exact;
}

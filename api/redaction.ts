import { plainFormsOf, toPlainText } from "./plain-text";

export { showChoices, showValue } from "./show-value";

/** Replacement for keys and secret values. */
const mask = "[secret]";

/** Minimum length of redacted values; shorter values occur in every text. */
const minLength = 4;

/** Length from which parts of a value are redacted, because values may be truncated or split into lines. */
const minPartLength = 16;

/** Minimum length from which a line of a value is redacted separately, because some texts arrive line by line. */
const minLineLength = 8;

/** Length of the pieces by which parts are found; every part contains at least one complete piece. */
const pieceLength = minPartLength / 2;

/** Maximum length of values that are also searched in base64, such as passwords in headers. */
const maxEncodedLength = 64 * 1024;

/** Base64 forms of a value inside a longer text, without the characters at both ends that depend on the adjacent text. */
function encodedForms(value: string): string[] {
  if (value.length < pieceLength || value.length > maxEncodedLength) return [];
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)]);
    const independentPart = (text: string): string =>
      text.slice(offset && offset + 1, Math.floor((bytes.length * 8) / 6));
    return [independentPart(bytes.toString("base64")), independentPart(bytes.toString("base64url"))];
  });
}

function formsOf(value: string): string[] {
  const lines = value.split(/\r?\n/).filter(({ length }) => length >= minLineLength && length < minPartLength);
  return [value, ...lines, ...encodedForms(value)].flatMap(plainFormsOf);
}

/** Search terms: short forms are searched completely, long forms in pieces. */
interface SearchTerms {
  short: string[];
  /** Piece → forms that contain it, with its positions. */
  pieces: Map<string, { form: string; at: number }[]>;
}

function searchTermsOf(values: readonly string[]): SearchTerms {
  const forms = [...new Set(values.flatMap(formsOf))].filter((form) => form.length >= minLength);
  const pieces: SearchTerms["pieces"] = new Map();
  for (const form of forms.filter(({ length }) => length >= minPartLength)) {
    for (let at = 0; at + pieceLength <= form.length; at += pieceLength) {
      const key = form.slice(at, at + pieceLength);
      const positions = pieces.get(key);
      if (positions) positions.push({ form, at });
      else pieces.set(key, [{ form, at }]);
    }
  }
  return { short: forms.filter(({ length }) => length < minPartLength), pieces };
}

type Range = [start: number, end: number];

/** Ranges of complete forms. */
function findForms(text: string, forms: readonly string[]): Range[] {
  const ranges: Range[] = [];
  for (const form of forms) {
    for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) ranges.push([at, at + form.length]);
  }
  return ranges;
}

/** Ranges of parts of forms, each as long as possible: several forms may begin alike, such as base64 and base64url. */
function findParts(text: string, pieces: SearchTerms["pieces"]): Range[] {
  const ranges: Range[] = [];
  if (pieces.size === 0) return ranges;
  for (let from = 0; from + pieceLength <= text.length; from++) {
    let longestEnd = 0;
    for (const { form, at } of pieces.get(text.slice(from, from + pieceLength)) ?? []) {
      // Comparing the character after the longest range first keeps periodic values fast.
      if (longestEnd > 0 && (longestEnd === text.length || text[longestEnd] !== form[at - from + longestEnd])) continue;
      let [start, end] = [from, from + pieceLength];
      while (start > 0 && text[start - 1] === form[at - from + start - 1]) start--;
      while (end < text.length && text[end] === form[at - from + end]) end++;
      if (end - start < minPartLength) continue;
      ranges.push([start, end]);
      longestEnd = Math.max(longestEnd, end);
    }
    if (longestEnd > 0) from = longestEnd - 1;
  }
  return ranges;
}

/**
 * Returns a function that redacts secrets in a text, even if they are escaped, encoded, truncated or split into lines. Texts must be
 * shortened after redaction, never before. A secret that is a common word is redacted everywhere, so policies must read the original text.
 */
export function createRedaction(secrets: readonly string[]): (text: string) => string {
  let terms: SearchTerms | undefined;
  return (text) => {
    if (text.length < minLength) return text;
    // Created lazily: most calls have nothing to redact, and secrets may be long.
    terms ??= searchTermsOf(secrets);
    const plain = toPlainText(text);
    const ranges = [...findForms(plain.text, terms.short), ...findParts(plain.text, terms.pieces)];
    let redacted = "";
    let at = 0;
    for (const [start, end] of ranges.sort(([a], [b]) => a - b)) {
      const [from, to] = [plain.starts[start] ?? 0, plain.ends[end - 1] ?? 0];
      if (to <= at) continue;
      // A range adjacent to the previous range needs no second mask.
      redacted += from <= at && at > 0 ? "" : `${text.slice(at, from)}${mask}`;
      at = to;
    }
    return redacted + text.slice(at);
  };
}

/** A copy of an error that is safe to expose: with redacted messages, and without sockets and options attached by libraries. */
export function redactFault(fault: unknown, redact: (text: string) => string): Error {
  if (!(fault instanceof Error)) return new Error(redact(String(fault)));
  const cause = fault instanceof AggregateError && fault.errors.length > 0 ? fault.errors[0] : fault.cause;
  const copy = new Error(
    redact(fault.message),
    cause === undefined ? undefined : { cause: redactFault(cause, redact) },
  );
  copy.name = fault.name;
  return "code" in fault && typeof fault.code === "string" ? Object.assign(copy, { code: fault.code }) : copy;
}

/** Environment values that are long enough to redact; shorter values would also redact ordinary words. */
export const longValues = (values: readonly string[]): string[] => values.filter(({ length }) => length >= 8);

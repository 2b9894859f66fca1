import { plainForms, plainText } from "./plain-text";

export { showValue } from "./show-value";

/** Replacement for keys and secret values. */
const mask = "[secret]";

/** Minimum length of redacted values; shorter values occur in every text. */
const shortest = 4;

/** Length from which parts of a value are redacted, because values may be truncated or split into lines. */
const part = 16;

/** Minimum length from which a line of a value is redacted separately, because some texts arrive line by line. */
const shortestLine = 8;

/** Length of the pieces by which parts are found; every part contains at least one complete piece. */
const piece = part / 2;

/** Maximum length of values that are also searched in base64, such as passwords in headers. */
const longestEncoded = 64 * 1024;

/** Base64 forms of a value inside a longer text, without the characters at both ends that depend on the adjacent text. */
function encodedForms(value: string): string[] {
  if (value.length < piece || value.length > longestEncoded) return [];
  return [0, 1, 2].flatMap((ahead) => {
    const bytes = Buffer.concat([Buffer.alloc(ahead), Buffer.from(value)]);
    const own = (text: string): string => text.slice(ahead && ahead + 1, Math.floor((bytes.length * 8) / 6));
    return [own(bytes.toString("base64")), own(bytes.toString("base64url"))];
  });
}

function formsOf(value: string): string[] {
  const lines = value.split(/\r?\n/).filter(({ length }) => length >= shortestLine && length < part);
  return [value, ...lines, ...encodedForms(value)].flatMap(plainForms);
}

/** Search terms: short forms are searched completely, long forms in pieces. */
interface SearchTerms {
  short: string[];
  /** Piece → forms that contain it, with its positions. */
  pieces: Map<string, { form: string; at: number }[]>;
}

function searchTermsOf(values: readonly string[]): SearchTerms {
  const forms = [...new Set(values.flatMap(formsOf))].filter((form) => form.length >= shortest);
  const pieces: SearchTerms["pieces"] = new Map();
  for (const form of forms.filter(({ length }) => length >= part)) {
    for (let at = 0; at + piece <= form.length; at += piece) {
      const key = form.slice(at, at + piece);
      const places = pieces.get(key);
      if (places) places.push({ form, at });
      else pieces.set(key, [{ form, at }]);
    }
  }
  return { short: forms.filter(({ length }) => length < part), pieces };
}

type Range = [start: number, end: number];

/** Ranges of complete forms. */
function wholes(text: string, forms: readonly string[]): Range[] {
  const found: Range[] = [];
  for (const form of forms) {
    for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) found.push([at, at + form.length]);
  }
  return found;
}

/** Ranges of parts of forms, each as long as possible. */
function parts(text: string, pieces: SearchTerms["pieces"]): Range[] {
  const found: Range[] = [];
  if (pieces.size === 0) return found;
  for (let from = 0; from + piece <= text.length; from++) {
    for (const { form, at } of pieces.get(text.slice(from, from + piece)) ?? []) {
      let [start, end] = [from, from + piece];
      while (start > 0 && text[start - 1] === form[at - from + start - 1]) start--;
      while (end < text.length && text[end] === form[at - from + end]) end++;
      if (end - start < part) continue;
      found.push([start, end]);
      from = end - 1;
      break;
    }
  }
  return found;
}

/**
 * Returns a function that redacts secrets in a text, even if they are escaped, encoded, truncated or split into lines. Texts must be
 * shortened after redaction, never before. A secret that is a common word is redacted everywhere, so policies must read the original text.
 */
export function createRedaction(secrets: readonly string[]): (text: string) => string {
  let terms: SearchTerms | undefined;
  return (text) => {
    if (text.length < shortest) return text;
    // Created lazily: most calls have nothing to redact, and secrets may be long.
    terms ??= searchTermsOf(secrets);
    const plain = plainText(text);
    const found = [...wholes(plain.text, terms.short), ...parts(plain.text, terms.pieces)];
    let redacted = "";
    let at = 0;
    for (const [start, end] of found.sort(([a], [b]) => a - b)) {
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
  const deeper = fault instanceof AggregateError && fault.errors.length > 0 ? fault.errors[0] : fault.cause;
  const copy = new Error(
    redact(fault.message),
    deeper === undefined ? undefined : { cause: redactFault(deeper, redact) },
  );
  copy.name = fault.name;
  return "code" in fault && typeof fault.code === "string" ? Object.assign(copy, { code: fault.code }) : copy;
}

/** Environment values that are long enough to redact; shorter values would also redact ordinary words. */
export const longValues = (values: readonly string[]): string[] => values.filter(({ length }) => length >= 8);

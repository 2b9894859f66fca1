import { plainForms, plainText } from "./plain-text";

export { showValue } from "./show-value";

/** Stands where a key or a secret value was. */
const mask = "[secret]";

/** Shorter values are left in texts: every text has them. */
const shortest = 4;

/** Any part of a value of this length is taken out: whoever told it may have cut it, or broken it into lines. */
const part = 16;

/** A shorter line of a value, from this length on, is a secret of its own: some texts come line by line. */
const shortestLine = 8;

/** Parts are found by pieces of half that length, of which each part has a whole one. */
const piece = part / 2;

/** Longest value that is looked for in base64, too: a password in a header, not a whole job. */
const longestEncoded = 64 * 1024;

/** A value in base64 as a part of something longer: without the letters at both ends that its neighbours decide, too. */
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

/** Search terms: short forms as a whole, long forms in pieces. */
interface Wanted {
  short: string[];
  /** Piece → the forms that contain it, with its positions. */
  pieces: Map<string, { form: string; at: number }[]>;
}

function wantedOf(values: readonly string[]): Wanted {
  const forms = [...new Set(values.flatMap(formsOf))].filter((form) => form.length >= shortest);
  const pieces: Wanted["pieces"] = new Map();
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

/** Places of whole forms. */
function wholes(text: string, forms: readonly string[]): Range[] {
  const found: Range[] = [];
  for (const form of forms) {
    for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) found.push([at, at + form.length]);
  }
  return found;
}

/** Places of parts of forms, each as long as it goes. */
function parts(text: string, pieces: Wanted["pieces"]): Range[] {
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
 * Returns a function that takes secrets out of a text, whatever the text did to them: escaped or encoded them, cut them,
 * broke them into lines. Cut a text after this, never before. A secret that is a common word is taken out where the text
 * means the word, too: policy must read a text as it came.
 */
export function createRedaction(secrets: readonly string[]): (text: string) => string {
  let wanted: Wanted | undefined;
  return (text) => {
    if (text.length < shortest) return text;
    // Most calls have nothing to say, and their secrets may be long.
    wanted ??= wantedOf(secrets);
    const plain = plainText(text);
    const found = [...wholes(plain.text, wanted.short), ...parts(plain.text, wanted.pieces)];
    let left = "";
    let at = 0;
    for (const [start, end] of found.sort(([a], [b]) => a - b)) {
      const [from, to] = [plain.starts[start] ?? 0, plain.ends[end - 1] ?? 0];
      if (to <= at) continue;
      // What goes on from the one before needs no mask of its own.
      left += from <= at && at > 0 ? "" : `${text.slice(at, from)}${mask}`;
      at = to;
    }
    return left + text.slice(at);
  };
}

/** A copy of a fault that is safe to hand out: its texts redacted, the sockets and options that libraries attach left behind. */
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

/** Values of an environment that errors must not contain. Shorter ones would also redact plain words. */
export const longValues = (values: readonly string[]): string[] => values.filter(({ length }) => length >= 8);

/** A decoding step: replaces matches of a pattern by their meaning. */
interface Step {
  pattern: RegExp;
  meaning(written: string): string;
}

function percentMeant(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#39": "'", "#x27": "'" };

/** Encodings of special characters in URLs and HTML. */
const encodings: Step[] = [
  { pattern: /%[0-7][0-9a-fA-F]|(?:%[89a-fA-F][0-9a-fA-F])+/g, meaning: percentMeant },
  { pattern: /&(?:amp|lt|gt|quot|apos|#39|#x27);/g, meaning: (written) => entities[written.slice(1, -1)] ?? written },
];

/** Escapes of JSON, nested JSON and programming languages. All separators, including the plus of forms, become one blank. */
const escapes: Step[] = [
  {
    pattern: /\\+(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})/g,
    meaning: (written) => String.fromCharCode(Number.parseInt(written.replace(/^\\+[ux]/, ""), 16)),
  },
  { pattern: /(?:\\+[nrt]|[\s+])+/g, meaning: () => " " },
  { pattern: /\\+/g, meaning: () => "" },
];

/** A decoded text and the position of each of its characters in the encoded text. */
interface PlainText {
  text: string;
  /** Start of each character in the encoded text. */
  starts: number[];
  /** End of each character in the encoded text, exclusive. */
  ends: number[];
}

function step(from: PlainText, { pattern, meaning }: Step): PlainText {
  const parts: string[] = [];
  const into: PlainText = { text: "", starts: [], ends: [] };
  const keep = (start: number, end: number): void => {
    parts.push(from.text.slice(start, end));
    for (let at = start; at < end; at++) {
      into.starts.push(from.starts[at] ?? 0);
      into.ends.push(from.ends[at] ?? 0);
    }
  };
  let at = 0;
  for (const { 0: written, index } of from.text.matchAll(pattern)) {
    keep(at, index);
    at = index + written.length;
    const meant = meaning(written);
    parts.push(meant);
    for (let unit = 0; unit < meant.length; unit++) {
      into.starts.push(from.starts[index] ?? 0);
      into.ends.push(from.ends[at - 1] ?? 0);
    }
  }
  keep(at, from.text.length);
  into.text = parts.join("");
  return into;
}

/**
 * Decodes a text to a form that is independent of its encoding: plain, in JSON at any depth, in a URL, a form or HTML, on one line or
 * several lines.
 */
export function plainText(text: string): PlainText {
  const written: PlainText = { text, starts: [], ends: [] };
  for (let at = 0; at < text.length; at++) {
    written.starts.push(at);
    written.ends.push(at + 1);
  }
  return [...encodings, ...escapes].reduce(step, written);
}

/** The forms of a value in decoded texts; the value itself may look like encoded text. */
export function plainForms(value: string): string[] {
  const read = (steps: Step[]): string =>
    steps.reduce((text, { pattern, meaning }) => text.replace(pattern, meaning), value).trim();
  return [...new Set([read([...encodings, ...escapes]), read(escapes)])];
}

/** Reads what a pattern finds as something else; the rest stays as it is. */
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

/** How addresses and pages write characters that have a meaning to them. */
const encodings: Step[] = [
  { pattern: /%[0-7][0-9a-fA-F]|(?:%[89a-fA-F][0-9a-fA-F])+/g, meaning: percentMeant },
  { pattern: /&(?:amp|lt|gt|quot|apos|#39|#x27);/g, meaning: (written) => entities[written.slice(1, -1)] ?? written },
];

/** How JSON, JSON within JSON and programming languages do; all that separates words, a form's plus too, is one blank. */
const escapes: Step[] = [
  {
    pattern: /\\+(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})/g,
    meaning: (written) => String.fromCharCode(Number.parseInt(written.replace(/^\\+[ux]/, ""), 16)),
  },
  { pattern: /(?:\\+[nrt]|[\s+])+/g, meaning: () => " " },
  { pattern: /\\+/g, meaning: () => "" },
];

/** A text as it is meant, and where in the text as it is written each of its characters stands. */
interface PlainText {
  text: string;
  /** First place of each character in what was written. */
  starts: number[];
  /** The place behind it. */
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
 * Reads a text so that it is the same however it is written: as it is, in JSON at any depth, in an address, a form or a
 * page, over several lines or in one.
 */
export function plainText(text: string): PlainText {
  const written: PlainText = { text, starts: [], ends: [] };
  for (let at = 0; at < text.length; at++) {
    written.starts.push(at);
    written.ends.push(at + 1);
  }
  return [...encodings, ...escapes].reduce(step, written);
}

/** The forms of a value in texts that were read so: a value may itself look like a part of an address or a page. */
export function plainForms(value: string): string[] {
  const read = (steps: Step[]): string =>
    steps.reduce((text, { pattern, meaning }) => text.replace(pattern, meaning), value).trim();
  return [...new Set([read([...encodings, ...escapes]), read(escapes)])];
}

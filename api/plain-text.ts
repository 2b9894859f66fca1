/** A decoding step: replaces matches of a pattern by their meaning. */
interface Decoding {
  pattern: RegExp;
  decode(encoded: string): string;
}

function decodePercent(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#39": "'", "#x27": "'" };

/** Encodings of special characters in URLs and HTML. */
const encodings: Decoding[] = [
  { pattern: /%[0-7][0-9a-fA-F]|(?:%[89a-fA-F][0-9a-fA-F])+/g, decode: decodePercent },
  { pattern: /&(?:amp|lt|gt|quot|apos|#39|#x27);/g, decode: (encoded) => entities[encoded.slice(1, -1)] ?? encoded },
];

/** Escapes of JSON, nested JSON and programming languages. All separators, including the plus of forms, become one blank. */
const escapes: Decoding[] = [
  {
    pattern: /\\+(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})/g,
    decode: (encoded) => String.fromCharCode(Number.parseInt(encoded.replace(/^\\+[ux]/, ""), 16)),
  },
  { pattern: /(?:\\+[nrt]|[\s+])+/g, decode: () => " " },
  { pattern: /\\+/g, decode: () => "" },
];

/** A decoded text and the position of each of its characters in the encoded text. */
interface PlainText {
  text: string;
  /** Start of each character in the encoded text. */
  starts: number[];
  /** End of each character in the encoded text, exclusive. */
  ends: number[];
}

function applyDecoding(input: PlainText, { pattern, decode }: Decoding): PlainText {
  const parts: string[] = [];
  const output: PlainText = { text: "", starts: [], ends: [] };
  const copyRange = (start: number, end: number): void => {
    parts.push(input.text.slice(start, end));
    for (let at = start; at < end; at++) {
      output.starts.push(input.starts[at] ?? 0);
      output.ends.push(input.ends[at] ?? 0);
    }
  };
  let at = 0;
  for (const { 0: encoded, index } of input.text.matchAll(pattern)) {
    copyRange(at, index);
    at = index + encoded.length;
    const decoded = decode(encoded);
    parts.push(decoded);
    for (let offset = 0; offset < decoded.length; offset++) {
      output.starts.push(input.starts[index] ?? 0);
      output.ends.push(input.ends[at - 1] ?? 0);
    }
  }
  copyRange(at, input.text.length);
  output.text = parts.join("");
  return output;
}

/**
 * Decodes a text to a form that is independent of its encoding: plain, in JSON at any depth, in a URL, a form or HTML, on one line or
 * several lines.
 */
export function toPlainText(text: string): PlainText {
  const encoded: PlainText = { text, starts: [], ends: [] };
  for (let at = 0; at < text.length; at++) {
    encoded.starts.push(at);
    encoded.ends.push(at + 1);
  }
  return [...encodings, ...escapes].reduce(applyDecoding, encoded);
}

/** The forms of a value in decoded texts; the value itself may look like encoded text. */
export function plainFormsOf(value: string): string[] {
  const decodeAll = (decodings: Decoding[]): string =>
    decodings.reduce((text, { pattern, decode }) => text.replace(pattern, decode), value).trim();
  return [...new Set([decodeAll([...encodings, ...escapes]), decodeAll(escapes)])];
}

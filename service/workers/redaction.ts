/** Replaces secret values in a text. */
export type Redact = (text: string) => string;

/** Shorter lines of a value that spans lines may be ordinary words. */
const shortestPart = 8;

const mask = "[secret]";

/**
 * Replaces every one of `values`, also in its JSON form, the longest first so that no part of one is left. Values of fewer
 * than 4 characters are ignored, because they would hide ordinary words. Output arrives line by line, so of a value that
 * spans lines, such as a private key, each line is replaced, and at the end of a line that was cut the beginning of a value.
 */
export function createRedaction(values: string[]): Redact {
  const parts = values.flatMap((value) => value.split(/\r?\n/)).filter((part) => part.length >= shortestPart);
  const plain = [...values.filter((value) => value.length >= 4), ...parts];
  const wanted = [...new Set(plain.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]))];
  wanted.sort((a, b) => b.length - a.length);
  return (text) => {
    const left = wanted.reduce((sofar, value) => sofar.replaceAll(value, mask), text);
    return left.endsWith("…") ? `${withoutBeginning(left.slice(0, -1), wanted)}…` : left;
  };
}

/** Replaces the beginning of a value at the end of a text. */
function withoutBeginning(text: string, values: string[]): string {
  const lengths = values.map((value) => {
    let length = Math.min(value.length, text.length);
    while (length >= shortestPart && !text.endsWith(value.slice(0, length))) length -= 1;
    return length;
  });
  const longest = Math.max(0, ...lengths);
  return longest >= shortestPart ? `${text.slice(0, -longest)}${mask}` : text;
}

/** Takes secret values out of a text. */
export type Redact = (text: string) => string;

/** Parts of a value that spans lines are long enough from here on to be no ordinary words. */
const shortestPart = 8;

const mask = "[secret]";

/**
 * Replaces every one of `values`, the longest first so that none is left in part, also as JSON has it. Values of under 4
 * letters would hide ordinary words. Of a value that spans lines, such as a private key, each line is replaced: output
 * comes line by line. Of one in which a long line was cut, the beginning is.
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

/** A text that was cut, without the beginning of a value at its end. */
function withoutBeginning(text: string, values: string[]): string {
  const lengths = values.map((value) => {
    let length = Math.min(value.length, text.length);
    while (length >= shortestPart && !text.endsWith(value.slice(0, length))) length -= 1;
    return length;
  });
  const longest = Math.max(0, ...lengths);
  return longest >= shortestPart ? `${text.slice(0, -longest)}${mask}` : text;
}

/** Takes secret values out of a text. */
export type Redact = (text: string) => string;

/** Parts of a value that spans lines are long enough from here on to be no ordinary words. */
const shortestPart = 8;

/**
 * Replaces every one of `values`, the longest first so that none is left in part. Values of under 4 letters would hide
 * ordinary words. Of a value that spans lines, such as a private key, each line is replaced: output comes line by line.
 */
export function createRedaction(values: string[]): Redact {
  const parts = values.flatMap((value) => value.split(/\r?\n/)).filter((part) => part.length >= shortestPart);
  const wanted = [...new Set([...values.filter((value) => value.length >= 4), ...parts])];
  wanted.sort((a, b) => b.length - a.length);
  return (text) => wanted.reduce((left, value) => left.replaceAll(value, "[secret]"), text);
}

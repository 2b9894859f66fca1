/** Replaces secret values in a text. */
export type Redact = (text: string) => string;

/** Minimum length of a redacted line of a multi-line value; shorter lines may be ordinary words. */
const minPartLength = 8;

const mask = "[secret]";

/**
 * Redacts `values` and their JSON forms, longest first, so that no part of a value remains. Values of fewer than 4 characters are ignored,
 * because they would hide ordinary words. Output arrives line by line, so each line of a multi-line value, such as a private key, is
 * redacted, and the beginning of a value at the end of a truncated line.
 */
export function createRedaction(values: string[]): Redact {
  const parts = values.flatMap((value) => value.split(/\r?\n/)).filter((part) => part.length >= minPartLength);
  const plain = [...values.filter((value) => value.length >= 4), ...parts];
  const secrets = [...new Set(plain.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]))];
  secrets.sort((a, b) => b.length - a.length);
  return (text) => {
    const redacted = secrets.reduce((result, value) => result.replaceAll(value, mask), text);
    return redacted.endsWith("…") ? `${redactBeginning(redacted.slice(0, -1), secrets)}…` : redacted;
  };
}

/** Redacts the beginning of a value at the end of a text. */
function redactBeginning(text: string, values: string[]): string {
  const lengths = values.map((value) => {
    let length = Math.min(value.length, text.length);
    while (length >= minPartLength && !text.endsWith(value.slice(0, length))) length -= 1;
    return length;
  });
  const longest = Math.max(0, ...lengths);
  return longest >= minPartLength ? `${text.slice(0, -longest)}${mask}` : text;
}

/** Replaces secret values in a text. */
export type Redact = (text: string) => string;

/** Minimum length of a redacted line of a multi-line value; shorter lines may be ordinary words. */
const minPartLength = 8;

const mask = "[secret]";

/**
 * Redacts `values` and their JSON forms, so that no part of a value remains. Values of fewer than 4 characters are ignored,
 * because they would hide ordinary words. Output arrives line by line, so each line of a multi-line value, such as a private key, is
 * redacted, and the beginning of a value at the end of a truncated line.
 */
export function createRedaction(values: string[]): Redact {
  const parts = values.flatMap((value) => value.split(/\r?\n/)).filter((part) => part.length >= minPartLength);
  const plain = [...values.filter((value) => value.length >= 4), ...parts];
  const secrets = [...new Set(plain.flatMap((value) => [value, ...jsonForms(value)]))];
  return (text) => {
    const redacted = redactAll(text, secrets);
    return redacted.endsWith("…") ? `${redactBeginning(redacted.slice(0, -1), secrets)}…` : redacted;
  };
}

/** A value in JSON, and in JSON with ASCII characters only, as Python writes it. */
function jsonForms(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return [json, json.replace(/[\u0080-\uffff]/g, escaped)];
}

/** Redacts all occurrences of the values, which may overlap. */
function redactAll(text: string, values: string[]): string {
  const ranges: { start: number; end: number }[] = [];
  for (const value of values)
    for (let start = text.indexOf(value); start !== -1; start = text.indexOf(value, start + 1))
      ranges.push({ start, end: start + value.length });
  let redacted = "";
  let position = 0;
  for (const { start, end } of ranges.sort((a, b) => a.start - b.start)) {
    if (start >= position) redacted += text.slice(position, start) + mask;
    position = Math.max(position, end);
  }
  return redacted + text.slice(position);
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

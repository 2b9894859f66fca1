/** Formats a value for a message: JSON, truncated to 80 characters. `redact` removes secrets before that. */
export function showValue(value: unknown, redact: (text: string) => string = (text) => text): string {
  // JSON has no numbers such as NaN.
  const isNumber = typeof value === "number";
  const text = redact((isNumber ? String(value) : JSON.stringify(value)) ?? "nothing");
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

/** Formats allowed values for a message, such as `"array", "envelope" or "auto"`. */
export function showChoices(choices: readonly unknown[]): string {
  const texts = choices.map((choice) => JSON.stringify(choice));
  const last = texts.pop() ?? "";
  return texts.length === 0 ? last : `${texts.join(", ")} or ${last}`;
}

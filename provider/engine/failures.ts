/** Text of whatever was thrown: an Error, a string, null. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && !thrown.message) return thrown.errors.map(messageOf).join("\n");
  if (thrown instanceof Error) return thrown.message || thrown.name;
  if (typeof thrown === "string" && thrown !== "") return thrown;
  return "failed without saying why";
}

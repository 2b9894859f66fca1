/** Formats a message as a reason of an unfinished object. The engine lists reasons as "\t* reason"; further lines are indented below it. */
export const asReason = (message: string): string => message.replaceAll("\n", "\n\t  ");

/** Message of any thrown value: an Error, a string, null. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && !thrown.message) return thrown.errors.map(messageOf).join("\n");
  if (thrown instanceof Error) return thrown.message || thrown.name;
  if (typeof thrown === "string" && thrown !== "") return thrown;
  return "unknown error";
}

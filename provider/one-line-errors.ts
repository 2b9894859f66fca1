/**
 * Prepares an error for Pulumi, which prints one with this mark, as its own RunError has it, without its stack. It colours
 * the stack all the same, and Node 20 can take half a minute for that when it leads through installed packages: only
 * the places in the user's own program stay.
 */
export function inOneLine(thrown: unknown): unknown {
  for (let one = thrown; one instanceof Error; one = one.cause) {
    const places = one.stack?.split("\n").filter((line) => !/^\s+at .*[/\\]node_modules[/\\]/.test(line));
    if (places) one.stack = places.join("\n");
  }
  if (thrown instanceof Error) Object.defineProperty(thrown, "__pulumiRunError", { value: true });
  return thrown;
}

import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** Yields a word, waits for a file, and yields another word. */
async function* words(file) {
  yield "first";
  while (!existsSync(file)) await pause(20);
  yield "second";
}

/** An error whose stack contains no path of this machine, for screenshots. */
function failure(message) {
  const error = new Error(message);
  error.stack = error.stack.replaceAll(new URL(".", import.meta.url).href, "").replace(/^ +at failure .*\n/m, "");
  return error;
}

/** Prints, fails, streams or waits, depending on the input. */
export default async function handler({ input, signal }) {
  if (input.say) console.log(input.say);
  if (input.until) return words(input.until);
  while (input.waitFor && !existsSync(input.waitFor)) await pause(20);
  if (input.fail && !existsSync(input.unless ?? "")) throw failure(input.fail);
  if (input.ms) await pause(input.ms, undefined, { signal });
  return { text: `Hello, ${input.name ?? "world"}!` };
}

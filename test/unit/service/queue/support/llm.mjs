import { existsSync, rmSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Yields values, like a worker that passes the response of its server on. */
async function* values({ yields }) {
  yield* yields;
}

/** Behaves like a worker behind an OpenAI-compatible API: streams a list of words, returns other output as a whole. */
async function* words({ words = [], raw = [], size = 0, count = 0, ends, marker }, signal) {
  const untilCancelled = () => new Promise((resolve) => signal.addEventListener("abort", resolve));
  for (const word of words) yield { word };
  for (const text of raw) yield text;
  for (let at = 0; at < count; at++) yield `${at}:${"x".repeat(size)}`;
  if (ends === "fail") throw new Error("out of memory");
  if (ends === "crash") {
    while (!existsSync(marker) && !signal.aborted) await delay(10);
    if (signal.aborted) return;
    // So that the next worker does not crash.
    rmSync(marker);
    process.exit(1);
  }
  if (ends === "wait") await untilCancelled();
}

export default async ({ input: { openai_route: route, openai_input: body }, signal }) => {
  if (body.fail) throw new Error("no such model");
  if (body.wait) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  if (body.returns) return body.returns;
  if (body.yields) return values(body);
  if (body.whole) return { whole: body.whole };
  return body.stream ? words(body, signal) : { route, body };
};

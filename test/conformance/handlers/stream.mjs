import { setTimeout as delay } from "node:timers/promises";

/** Yields `chunks` of the input one by one, `pause` ms apart; with `size`, first yields a text of `size` letters. */
export default async function* stream(job) {
  const { size, chunks = [], pause = 0 } = job.input.openai_input ?? job.input;
  if (size) yield "x".repeat(size);
  for (const chunk of chunks) {
    await delay(pause);
    yield chunk;
  }
}

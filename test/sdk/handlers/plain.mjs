import { setTimeout as delay } from "node:timers/promises";

/** What plain.py does, as far as clients see it: answers the input and the job's id, after `seconds` of the input. */
export default async ({ id, input }) => {
  if (input.seconds) await delay(input.seconds * 1000);
  return { echo: input, id };
};

import { setTimeout as delay } from "node:timers/promises";

/** Counterpart of plain.py: returns the input and the job's id after `input.seconds`. */
export default async ({ id, input }) => {
  if (input.seconds) await delay(input.seconds * 1000);
  return { echo: input, id };
};

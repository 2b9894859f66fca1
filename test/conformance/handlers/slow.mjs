import { setTimeout as delay } from "node:timers/promises";

/** Sleeps `input.ms` milliseconds and returns that number. */
export default async (job) => {
  await delay(job.input.ms);
  return { slept: job.input.ms };
};

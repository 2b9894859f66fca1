import { setTimeout as delay } from "node:timers/promises";

/** Sleeps `input.ms` milliseconds and answers how long. */
export default async (job) => {
  await delay(job.input.ms);
  return { slept: job.input.ms };
};

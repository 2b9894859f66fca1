import { setTimeout as delay } from "node:timers/promises";

// Every second run stops slowly.
if (process.pid % 2 === 0) process.on("SIGTERM", () => undefined);

/** Works, crashes, requests its replacement, or ignores its cancellation. */
export default async ({ input }) => {
  switch (input.do) {
    case "work":
      await delay(input.ms);
      return process.pid;
    case "crash":
      return process.exit(3);
    case "refresh":
      return { refresh_worker: true };
    case "hang":
      for (;;) await delay(1000);
    default:
      throw new Error(`unknown: ${input.do}`);
  }
};

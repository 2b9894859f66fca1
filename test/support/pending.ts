import { setTimeout as delay } from "node:timers/promises";

/** Returns true if a promise is still pending after `ms`. */
export const isPending = (promise: Promise<unknown>, ms = 50): Promise<boolean> =>
  Promise.race([
    promise.then(
      () => false,
      () => false,
    ),
    delay(ms, true),
  ]);

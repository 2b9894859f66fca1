import { setTimeout as delay } from "node:timers/promises";

/** Returns true if a promise is still pending after 50 ms. */
export const isPending = (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    promise.then(
      () => false,
      () => false,
    ),
    delay(50, true),
  ]);

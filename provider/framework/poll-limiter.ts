import type { Context } from "./contract";
import { sharedValue } from "./deployment";

/**
 * Rate limit of the polls of one deployment: a burst of `burst`, then one per `interval` ms. A limit of the service, such as 60
 * requests per minute in the description of REST v2, then leaves room for other requests.
 */
const interval = 1000;
const burst = 30;

/** Time at which the full burst is available again. */
const fullBurst = sharedValue(() => ({ time: 0 }));

/**
 * Waits for the turn to send one poll of the management API, at least `ms` from now. Turns are in the order of the calls. Returns
 * the milliseconds that the limit delayed the poll beyond `ms`.
 */
export async function acquirePoll(context: Pick<Context, "clients" | "clock" | "signal">, ms = 0): Promise<number> {
  const { clock, signal } = context;
  const shared = fullBurst(context);
  const now = clock.now();
  const requestedTime = now + ms;
  const fullBurstTime = Math.max(requestedTime, shared.time);
  const pollTime = Math.max(requestedTime, fullBurstTime - (burst - 1) * interval);
  shared.time = fullBurstTime + interval;
  if (pollTime > now) await clock.sleep(pollTime - now, signal);
  return pollTime - requestedTime;
}

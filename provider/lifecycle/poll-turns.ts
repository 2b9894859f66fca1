import type { Clients } from "serverless-compute-api";
import type { Context } from "./contract";

/** Milliseconds between two polls of one process, whatever they are about. */
const between = 1000;

/** When the next poll may be sent; kept per clients, so for one deployment. */
const free = new WeakMap<Clients, number>();

/**
 * Waits for the turn to send one poll, at least `ms` from now: many resources that wait for the service at a time send
 * it one poll a second together, in the order in which they asked.
 */
export async function pollTurn(
  { clients, clock, signal }: Pick<Context, "clients" | "clock" | "signal">,
  ms = 0,
): Promise<void> {
  const now = clock.now();
  const turn = Math.max(now + ms, free.get(clients) ?? now);
  free.set(clients, turn + between);
  if (turn > now) await clock.sleep(turn - now, signal);
}

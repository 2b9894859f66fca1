import type { Context } from "../../../provider/framework/contract";
import type { Random } from "../../support/random";
import type { Fault, RecordingProxy } from "../../support/recording-proxy";
import type { Run } from "./deployment";

const faults: readonly Fault[] = [
  { kind: "dropRequest" },
  { kind: "dropResponse" },
  { kind: "delayRequest", ms: 3 },
  { kind: "reset" },
  { kind: "reset", applied: true },
  { kind: "halfBody" },
  ...([429, 500, 502, 503, 504] as const).map((status): Fault => ({ kind: "status", status })),
  ...([500, 502, 504] as const).map((status): Fault => ({ kind: "status", status, applied: true })),
  { kind: "status", status: 429, retryAfter: "2" },
];

/**
 * Lets some requests pass, then injects one fault, several times over; at the end the process may be killed. Kills
 * alone, at any request, are frequent: a kill during a create is the hardest to repair.
 */
export function injectFaults(proxy: RecordingProxy, random: Random): string[] {
  const forwarded: Fault = { kind: "delayRequest", ms: 0 };
  const plan: Fault[] = [];
  const onlyKilled = random.chance(0.4);
  for (let count = onlyKilled ? 0 : random.int(0, 5); count > 0; count--) {
    plan.push(...Array.from({ length: random.int(0, 6) }, () => forwarded));
    // Several consecutive faults exceed the retries.
    const fault = random.pick(faults);
    plan.push(...Array.from({ length: random.chance(0.15) ? 7 : 1 }, () => fault));
  }
  if (onlyKilled || random.chance(0.3)) {
    plan.push(...Array.from({ length: random.int(0, onlyKilled ? 16 : 6) }, () => forwarded));
    plan.push({ kind: "clientGone", applied: random.chance(0.7) });
  }
  for (const fault of plan) proxy.inject({}, fault);
  return plan.filter((fault) => fault !== forwarded).map((fault) => JSON.stringify(fault));
}

/** A run of the engine through a proxy, which may kill it. With `random`, random cancellations occur. */
export function processOf(context: Context, proxy: RecordingProxy, random?: Random): Run {
  const stop = new AbortController();
  const { progress } = context;
  let verbs = random?.chance(0.15) ? random.int(1, 6) : 0;
  return {
    context: {
      ...context,
      signal: stop.signal,
      // Progress is reported at waits and polls, where a cancellation is most critical.
      progress: (text) => {
        progress(text);
        if (--verbs === 0) stop.abort(new Error("the deployment was cancelled"));
      },
    },
    killed: proxy.isClientGone,
  };
}

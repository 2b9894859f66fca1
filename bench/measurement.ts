import { call } from "./client";
import type { MeasuredService } from "./service";

/** What a load did to the service; times in ms. */
export interface Measurement {
  sent: number;
  accepted: number;
  throttled: number;
  /** Answers other than 200 and 429, by what they were. */
  errors: Map<string, number>;
  latencies: number[];
  seconds: number;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

export const nothingMeasured = (): Measurement => ({
  ...{ sent: 0, accepted: 0, throttled: 0, seconds: 0 },
  errors: new Map(),
  latencies: [],
});

/** Submits one job and notes what came of it. */
async function submit(service: MeasuredService, endpointId: string, body: string, into: Measurement): Promise<void> {
  into.sent++;
  const { status, text, ms } = await call(
    "POST",
    `${service.serverlessUrl}/v2/${endpointId}/run`,
    service.apiKey,
    body,
  );
  if (status === 200) {
    into.accepted++;
    into.latencies.push(ms);
  } else if (status === 429) into.throttled++;
  else {
    const what = `${status} ${text.slice(0, 120)}`;
    into.errors.set(what, (into.errors.get(what) ?? 0) + 1);
  }
}

/** `perEndpoint` jobs on every endpoint as fast as `atOnce` connections each carry them. */
export async function burst(service: MeasuredService, perEndpoint: number, atOnce: number, body: string) {
  const into = nothingMeasured();
  const began = performance.now();
  const client = async (endpointId: string, left: { jobs: number }): Promise<void> => {
    while (left.jobs-- > 0) await submit(service, endpointId, body, into);
  };
  const clients = service.endpointIds.flatMap((id) => {
    const left = { jobs: perEndpoint };
    return Array.from({ length: atOnce }, () => client(id, left));
  });
  await Promise.all(clients);
  into.seconds = (performance.now() - began) / 1000;
  return into;
}

/**
 * `perSecond` jobs a second on every endpoint, evenly, until `jobs` were sent to all together. At most `atOnce` are
 * open per endpoint: where the service is late, the load comes later too.
 */
export async function steady(
  service: MeasuredService,
  { perSecond, atOnce, jobs, body }: { perSecond: number; atOnce: number; jobs: number; body: string },
) {
  const into = nothingMeasured();
  const began = performance.now();
  const rate = perSecond * service.endpointIds.length;
  const open = new Set<Promise<void>>();
  while (into.sent < jobs) {
    const due = Math.min(jobs, Math.floor(((performance.now() - began) / 1000) * rate));
    while (into.sent < due && open.size < atOnce * service.endpointIds.length) {
      const endpointId = service.endpointIds[into.sent % service.endpointIds.length] ?? "";
      const one: Promise<void> = submit(service, endpointId, body, into).finally(() => open.delete(one));
      open.add(one);
    }
    await pause(10);
  }
  await Promise.all(open);
  into.seconds = (performance.now() - began) / 1000;
  return into;
}

/** Waits until no job waits or runs; answers the seconds that it took. */
export async function drain(service: MeasuredService): Promise<number> {
  const began = performance.now();
  while ((await service.count("inQueue")) + (await service.count("inProgress")) > 0) await pause(50);
  return (performance.now() - began) / 1000;
}

/** The value below which so many of 100 lie. */
export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * share) / 100))] ?? Number.NaN;
}

import { runLoad } from "./load";
import { onService } from "./service";

/** All connections of ten endpoints at once, at the interface's limits: `rate` requests each, 200 connections each. */
export interface BurstRow {
  sent: number;
  accepted: number;
  throttled: number;
  /** Other answers and broken connections. */
  errors: number;
  acceptedPerSecond: number;
  p50: number;
  p99: number;
  /** Seconds from the last answer to the last finished job. */
  drained: number;
}

const body = JSON.stringify({ input: { prompt: "ping" } });
const limit = { requests: 1000, concurrent: 200 };

/** A burst of /run within the limits of ten endpoints; every accepted job has to complete. */
export async function measureBurst(): Promise<BurstRow> {
  const endpoints = 10;
  return onService({ endpoints, rateLimits: "on" }, async (service) => {
    const requests = service.endpointIds.map((id) => ({ method: "POST" as const, path: `/v2/${id}/run`, body }));
    const sent = endpoints * limit.requests;
    // One load for each endpoint, so that each has its own 200 connections.
    const loads = await Promise.all(
      requests.map((request) =>
        runLoad({
          url: service.serverlessUrl,
          headers: service.headers,
          connections: limit.concurrent,
          requests: [request],
          for: { requests: limit.requests },
        }),
      ),
    );
    const sum = (read: (load: (typeof loads)[number]) => number): number =>
      loads.reduce((total, load) => total + read(load), 0);
    const worst = (read: (load: (typeof loads)[number]) => number): number => Math.max(...loads.map(read));
    const drained = await service.drained();
    const completed = await service.count("completed");
    const accepted = sum(({ answered }) => answered);
    if (completed !== accepted) throw new Error(`burst: ${accepted} jobs accepted, ${completed} completed`);
    return {
      ...{ sent, accepted, drained },
      throttled: sum(({ throttled }) => throttled),
      errors: sum(({ errors }) => errors),
      acceptedPerSecond: sum(({ perSecond }) => perSecond),
      p50: worst(({ p50 }) => p50),
      p99: worst(({ p99 }) => p99),
    };
  });
}

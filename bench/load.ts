import autocannon from "autocannon";
import { percentile } from "./statistics";

/** Result of a load; times in ms. */
export interface LoadResult {
  /** Responses with status 2xx. */
  answered: number;
  perSecond: number;
  p50: number;
  p99: number;
  /** Responses with status 429. */
  throttled: number;
  /** Every other response and every broken connection. */
  errors: number;
}

/** A load: connections that each send the next request after a response. */
export interface Load {
  url: string;
  headers: Record<string, string>;
  connections: number;
  for: { seconds: number } | { requests: number };
  requests: autocannon.Request[];
}

/** Sends a load and times every response. The histogram of autocannon counts whole ms, which is too coarse here. */
export async function runLoad({ url, headers, connections, requests, ...load }: Load): Promise<LoadResult> {
  const times: number[] = [];
  const length = "seconds" in load.for ? { duration: load.for.seconds } : { amount: load.for.requests };
  const startTime = performance.now();
  let throttled = 0;
  const { errors, non2xx } = await new Promise<autocannon.Result>((resolve, reject) => {
    const finished = (error: unknown, result: autocannon.Result): void => (error ? reject(error) : resolve(result));
    const load = autocannon({ url, headers, connections, requests, timeout: 60, ...length }, finished);
    load.on("response", (_client, status, _bytes, ms) => {
      if (status >= 200 && status < 300) times.push(ms);
      if (status === 429) throttled++;
    });
  });
  const seconds = (performance.now() - startTime) / 1000;
  return {
    answered: times.length,
    perSecond: times.length / seconds,
    p50: percentile(times, 50),
    p99: percentile(times, 99),
    throttled,
    errors: errors + non2xx - throttled,
  };
}

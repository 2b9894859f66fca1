import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "vitest";

/** A constant number of clients that send consecutive GET requests on persistent connections. */
interface HttpLoad {
  /** Responses by status and `x-version`, and errors by message. */
  readonly counts: Readonly<Record<string, number>>;
  /** Waits until the total number of responses reaches `count`. */
  waitForCount(count: number): Promise<void>;
  /** Waits for a response of that version. */
  waitForVersion(version: string): Promise<void>;
  /** Waits for the open requests and returns the counts. */
  stop(): Promise<Record<string, number>>;
}

/** A load balancing endpoint whose image contains `programs/http-server.mjs`. */
export const httpServerEndpoint = (image: string, workers: { min: number; max: number }) => ({
  name: "balancer",
  image,
  args: "node /programs/http-server.mjs",
  type: "LOAD_BALANCER",
  cpu: [{ id: "cpu3c", vcpuCount: 2 }],
  scaling: { type: "REQUEST_COUNT", requestCount: 8 },
  workers: { ...workers, idleTimeout: 60 },
  env: { PORT: "8000", PORT_HEALTH: "8001", HOST: "0.0.0.0", VERSION: "1" },
});

export function startHttpLoad(url: string, key: string, clients = 16): HttpLoad {
  const counts: Record<string, number> = {};
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const headers = { authorization: `Bearer ${key}` };
  let isStopped = false;

  const send = (): Promise<string> =>
    new Promise((resolve) => {
      const fail = (error: Error): void => resolve(error.message);
      const getRequest = request(url, { agent, headers }, (response) => {
        const { statusCode, headers } = response;
        const isOk = statusCode === 200;
        text(response).then((body) => resolve(isOk ? `200 ${headers["x-version"]}` : `${statusCode} ${body}`), fail);
      });
      getRequest.on("error", fail).end();
    });
  async function client(): Promise<void> {
    while (!isStopped) {
      const outcome = await send();
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
  }
  const running = Array.from({ length: clients }, client);
  const total = (): number => Object.values(counts).reduce((sum, count) => sum + count, 0);
  return {
    counts,
    waitForCount: (count) => expect.poll(total, { timeout: 300_000 }).toBeGreaterThanOrEqual(count),
    waitForVersion: (version) => expect.poll(() => counts[`200 ${version}`] ?? 0).toBeGreaterThan(0),
    async stop() {
      isStopped = true;
      await Promise.all(running);
      agent.destroy();
      return counts;
    },
  };
}

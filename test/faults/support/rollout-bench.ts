import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClients } from "serverless-compute-api";
import { afterAll } from "vitest";
import { z } from "zod";
import type { Context } from "../../../provider/framework/contract";
import { acceleratedClock } from "../../support/accelerated-clock";
import { dialect } from "../../support/dialect";
import type { LifecycleBench } from "../../support/lifecycle-bench";
import { quietContext } from "../../support/quiet-context";
import { at, expectResponse, type RawResponse, send } from "../../support/raw-http";
import { type RecordingProxy, startRecordingProxy } from "../../support/recording-proxy";
import { registerSecret } from "../../support/secret-scan";
import { program, type Running, useFolder } from "../../unit/service/cli/command";

/** Speed of service and lifecycles relative to the machine's time. */
const speed = 20;

const addressLine = z.object({
  baseUrl: z.string(),
  graphqlUrl: z.string(),
  serverlessUrl: z.string(),
  apiKey: z.string(),
});
type Addresses = z.output<typeof addressLine>;

/** A local service with real workers in its own process, behind a recording proxy, for lifecycles under test. */
interface RolloutBench extends Pick<LifecycleBench, "listObjects"> {
  proxy: RecordingProxy;
  /** The time of service and lifecycles, ms since the epoch. */
  now(): number;
  /** A verb's context with its own clients. */
  context(): Context;
  /** Calls an endpoint's job API without the proxy. */
  job(method: string, endpointId: string, path: string, json?: unknown): Promise<RawResponse>;
  /** Sends a REST request without the proxy. */
  rest(method: string, path: string, json?: unknown): Promise<RawResponse>;
  /** Kills the service (-9) and starts another service on its data. */
  kill(): Promise<void>;
}

/** Starts the bench for the tests of a file. */
export async function useRolloutBench(): Promise<RolloutBench> {
  const folder = await useFolder();
  const since = Date.now();
  const clock = acceleratedClock(speed, since);
  const handler = fileURLToPath(new URL("../../support/handlers/versioned.mjs", import.meta.url));
  const start = async (): Promise<{ running: Running; addresses: Addresses }> => {
    const args = [join(folder, "data"), handler, String(since), String(speed)];
    const running = program("test/faults/support/rollout-service.ts", args);
    return { running, addresses: addressLine.parse(JSON.parse(await running.firstLine())) };
  };
  let { running, addresses } = await start();
  registerSecret(addresses.apiKey, "the API key");
  const proxy = await startRecordingProxy(addresses.serverlessUrl, clock.now);
  const closing: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const close of closing) await close();
    await proxy.close();
    running.child.kill("SIGTERM");
    await running.ended;
  });

  const call = (method: string, url: string, json?: unknown): Promise<RawResponse> =>
    send(method, url, { key: addresses.apiKey, ...(json === undefined ? {} : { json }) });
  return {
    proxy,
    now: clock.now,
    context() {
      const { apiKey } = addresses;
      const clients = createClients({
        apiKey,
        dialect,
        clock,
        baseUrl: `${proxy.origin}/${dialect}`,
        graphqlUrl: `${proxy.origin}/graphql`,
        serverlessUrl: proxy.origin,
        random: () => 0.5,
      });
      closing.push(() => clients.close());
      return quietContext({ clients, clock });
    },
    job: (method, endpointId, path, json) => call(method, `${addresses.serverlessUrl}/v2/${endpointId}${path}`, json),
    rest: (method, path, json) => call(method, `${addresses.baseUrl}${path}`, json),
    async listObjects(kind) {
      const query = "{ myself { secrets { id name description } } }";
      const response =
        kind === "secrets"
          ? await call("POST", addresses.graphqlUrl, { query })
          : await call("GET", `${addresses.baseUrl}/${kind}`);
      expectResponse(response, 200);
      return z
        .array(z.unknown())
        .parse(kind === "secrets" ? at(response.json, "data", "myself", "secrets") : response.json);
    },
    async kill() {
      running.child.kill("SIGKILL");
      await running.ended;
      ({ running, addresses } = await start());
      proxy.forwardTo(addresses.serverlessUrl);
    },
  };
}

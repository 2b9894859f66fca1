import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, onTestFinished, vi } from "vitest";
import { createEndpoint } from "../../../support/endpoint";
import { type Behaviour, json, type ReceivedRequest, startFaultyServer } from "../../../support/faulty-server";
import { scratchFolder } from "../../../support/folders";
import { serviceDefaults, useSharedService } from "../../../support/local-service";
import { freePort } from "../../../support/loopback";
import { registerSecret } from "../../../support/secret-scan";
import { handlerFile } from "../../../support/target";

/** JSON texts that lose their numbers if a client parses them. */
export const exactChunks = ["12345678901234567890", "1.0", '{"a":[1e400]}'];

/** A handler that writes to the pipe of its worker, because values of JavaScript would be rounded. */
const exactHandler = `import { writeSync } from "node:fs";
export default ({ id, input }) => {
  const chunks = ${JSON.stringify(exactChunks)};
  if (input.stream) for (const chunk of chunks) writeSync(3, \`{"id":"\${id}","chunk":\${chunk}}\\n\`);
  else writeSync(3, \`{"id":"\${id}","output":[\${chunks}]}\\n\`);
};`;

/** A handler that prints the lines of its input. */
const printingHandler = `export default ({ input: { lines } }) => {
  for (const line of lines) console.log(line);
  return null;
};`;

/** A local service, for both command lines; the provider's gets its address and key from the environment. */
export async function useJobService() {
  const folder = scratchFolder(afterAll);
  const files = { exact: exactHandler, print: printingHandler };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, `${name}.mjs`), text);
  const images = Object.fromEntries([
    ...(["echo", "fail", "stream", "slow"] as const).map((name) => [`acme/${name}:1`, handlerFile(name)]),
    ...Object.keys(files).map((name) => [`acme/${name}:1`, join(folder, `${name}.mjs`)]),
  ]);
  const { service, dataFolder: data } = await useSharedService({ ...serviceDefaults, images, rateLimits: "off" });
  registerSecret(service.apiKey, "the API key");
  const balancer = { type: "LOAD_BALANCER", scaling: { type: "REQUEST_COUNT", requestCount: 1 }, workers: { max: 0 } };
  const ids: Record<string, string> = {
    balancer: await createEndpoint(service, "acme/web:1", { name: "balancer", ...balancer }),
  };
  for (const name of ["echo", "fail", "stream", "exact"])
    ids[name] = await createEndpoint(service, `acme/${name}:1`, { name });
  ids["slow"] = await createEndpoint(service, "acme/slow:1", { name: "slow", workers: { max: 2 } });
  ids["print"] = await createEndpoint(service, "acme/print:1", { name: "print", workers: { min: 1, max: 1 } });
  const environment = { SERVERLESS_COMPUTE_URL: service.url, SERVERLESS_COMPUTE_API_KEY: service.apiKey };
  return { service, folder, data, ids, environment };
}

/** Sets variables of the environment until the end of the test. */
export function setEnvironment(variables: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  // Not by afterEach here: without isolation, only the first file that loads this module would get it.
  onTestFinished(() => void vi.unstubAllEnvs());
}

/** An endpoint in a list of REST v2. */
export const chat = {
  id: "ep1",
  name: "chat",
  workers: {},
  scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
};

/** Starts a service with these endpoints, which `respond` simulates otherwise, and sets its address and a key until the end of the test. */
export async function useScriptedAccount(respond: (request: ReceivedRequest) => Behaviour, endpoints = [chat]) {
  const { origin, requests } = await startFaultyServer((request) =>
    /^\/v2\/serverless(\?|$)/.test(request.url) ? json({ endpoints }) : respond(request),
  );
  setEnvironment({ SERVERLESS_COMPUTE_API_KEY: "k".repeat(32), SERVERLESS_COMPUTE_URL: origin });
  return { origin, requests };
}

/** Starts a proxy whose connections a test can cut. */
export async function startCuttingProxy(target: string) {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((client) => {
    const { hostname, port } = new URL(target);
    const upstream = connect(Number(port), hostname);
    count += 1;
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.pipe(peer);
      socket
        .on("error", () => peer.destroy())
        .on("close", () => {
          sockets.delete(socket);
          peer.destroy();
        });
    }
  });
  // No other process is assigned this port before it is opened again.
  const port = await freePort();
  const listen = () => once(server.listen(port, "127.0.0.1"), "listening");
  await listen();
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    origin: `http://127.0.0.1:${port}`,
    /** Number of connections so far. */
    connections: () => count,
    cut,
    close: async () => {
      server.close();
      cut();
    },
    /** Listens again at the same address after `close`. */
    reopen: listen,
  };
}

import { connect, type Server } from "node:net";

/** Milliseconds between two looks at the connections. */
const lookEvery = 500;

/** Returns true if an address refuses connections. After any other result the engine counts as running. */
function isRefused(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ host, port });
    probe.once("connect", () => {
      probe.destroy();
      resolve(false);
    });
    probe.once("error", (error) => resolve("code" in error && error.code === "ECONNREFUSED"));
  });
}

/** How many connections a server has; unknown counts as one. */
function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 1 : count)));
}

/**
 * Calls back once when the engine is gone. An engine ends its providers with a signal; a killed engine leaves them
 * running. Then its connections to `servers` break and its own address (host:port) refuses connections. Both are
 * required, because an idle connection may close while the engine lives. Keeps no process alive. Returns a function that
 * ends the watch.
 */
export function watchEngine(servers: readonly Server[], address: string, gone: () => void): () => void {
  const [, host = "", port = ""] = /^(.+):(\d+)$/.exec(address) ?? [];
  if (host === "" || servers.length === 0) return () => {};
  const look = async (): Promise<void> => {
    const connections = await Promise.all(servers.map(connectionsOf));
    const isGone = connections.every((count) => count === 0) && (await isRefused(host, Number(port)));
    if (ended) return;
    if (isGone) gone();
    else timer = setTimeout(() => void look(), lookEvery).unref();
  };
  let ended = false;
  let timer = setTimeout(() => void look(), lookEvery).unref();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

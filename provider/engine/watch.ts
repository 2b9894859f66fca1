import { connect, type Server } from "node:net";

/** Interval between checks of the connections (ms). */
const checkInterval = 500;

/** Returns true if an address refuses connections; any other result means that the engine may be running. */
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

/** Number of connections to a server; 1 if it cannot be determined. */
function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 1 : count)));
}

/**
 * Calls `onGone` once when the engine no longer exists. The engine normally ends its providers with a signal, but a killed engine
 * leaves them running. Its connections to `servers` then close, and its address (host:port) refuses connections. Both are
 * required, because an idle connection may close while the engine runs. The watch does not keep the process alive. Returns a
 * function that ends the watch.
 */
export function watchEngine(servers: readonly Server[], address: string, onGone: () => void): () => void {
  const [, host = "", port = ""] = /^(.+):(\d+)$/.exec(address) ?? [];
  if (host === "" || servers.length === 0) return () => {};
  const check = async (): Promise<void> => {
    const connections = await Promise.all(servers.map(connectionsOf));
    const isGone = connections.every((count) => count === 0) && (await isRefused(host, Number(port)));
    if (stopped) return;
    if (isGone) onGone();
    else timer = setTimeout(() => void check(), checkInterval).unref();
  };
  let stopped = false;
  let timer = setTimeout(() => void check(), checkInterval).unref();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

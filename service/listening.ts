import { once } from "node:events";
import { createServer, isIP, isIPv6 } from "node:net";
import { showValue } from "serverless-compute-api/shapes";
import { codeOf, ServiceError, StartError } from "./errors";

/** Address and host names of the service. */
export interface Listening {
  /** Address to listen on; 0.0.0.0 for all addresses of this machine. */
  host: string;
  /** Host names that requests may use, in addition to loopback; if empty, the Host header is not checked. */
  allowHosts: readonly string[];
}

/** Default address to listen on, reachable from this machine only. */
export const defaultHost = "127.0.0.1";

/** Returns whether an address is reachable only from this machine. */
export const isLoopback = (address: string): boolean => /^127\./.test(address) || address === "::1";
const toUrlHost = (address: string): string => (isIPv6(address) ? `[${address}]` : address);

/** A host name in a Host header, without the port. */
const hostName = /^([a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/i;

/**
 * Checks the address and the host names; throws a StartError. An address that other machines can reach requires host names,
 * so that it is not exposed by accident.
 */
export function checkListening({ host, allowHosts }: Listening): Listening {
  // No URL can contain the zone of an IPv6 address.
  if (!isIP(host) || host.includes("%"))
    throw new StartError(
      `host: ${showValue(host)} is not allowed; must be an IP address such as 127.0.0.1 or 0.0.0.0, without a zone`,
    );
  const invalidHost = allowHosts.find((name) => !hostName.test(name));
  if (invalidHost !== undefined)
    throw new StartError(
      `allowHosts: ${showValue(invalidHost)} is not allowed; must be a host name or address without a port, such as serverless-compute`,
    );
  if (!isLoopback(host) && allowHosts.length === 0)
    throw new StartError(
      `host: ${host} is reachable from other machines; allow the service's host name with --allow-host HOST (allowHosts), or keep 127.0.0.1`,
    );
  return { host, allowHosts };
}

/** The StartError for an address on which the service cannot listen; undefined for any other error. */
export function listenError(error: unknown, host: string, port: number): StartError | undefined {
  const code = codeOf(error);
  if (code === "EADDRNOTAVAIL") return new StartError(`host: ${host} is not an address of this machine`);
  if (code === "EACCES")
    return new StartError(`port ${port} on ${host}: this user may not listen on it; choose another port with --port`);
  const remedy = "stop the program that uses it or choose another port with --port (0 selects a free port)";
  return code === "EADDRINUSE" ? new StartError(`port ${port} on ${host} is taken: ${remedy}`) : undefined;
}

/** Listens for a moment; rejects with a StartError if the service cannot listen, before its data folder is opened or changed. */
export async function checkPort(host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen({ port, host }), "listening");
  } catch (error) {
    throw listenError(error, host, port) ?? error;
  } finally {
    server.close();
  }
}

/** Returns the root URL of the APIs for clients on this machine. */
export function rootOf(host: string, port: number): string {
  if (host === "0.0.0.0") return `http://127.0.0.1:${port}`;
  return `http://${host === "::" ? "[::1]" : toUrlHost(host)}:${port}`;
}

/**
 * Creates a check of Host headers against DNS rebinding, which returns an error for an unknown host. Without `allowHosts`,
 * every Host header passes.
 */
export function createHostCheck({
  host,
  allowHosts,
}: Listening): (header: string | undefined) => ServiceError | undefined {
  if (allowHosts.length === 0) return () => undefined;
  const hostNames = [...allowHosts, toUrlHost(host), "127.0.0.1", "localhost", "[::1]"].map((name) =>
    name.toLowerCase(),
  );
  const allowed = new Set(hostNames);
  return (header = "") => {
    const name = header.replace(/:\d+$/, "").toLowerCase();
    if (allowed.has(name)) return undefined;
    return new ServiceError(
      "misdirected",
      `header Host: ${showValue(header.slice(0, 100))} is not a host of this service; start it with --allow-host and that name`,
    );
  };
}

import { isIP, isIPv6 } from "node:net";
import { showValue } from "serverless-compute-api/shapes";
import { ServiceError, StartError } from "./errors";

/** Where the service listens, and by which names clients reach it. */
export interface Listening {
  /** The address of this machine that it listens on; 0.0.0.0 for all of them. */
  host: string;
  /** Names that requests may have in their Host header beside those of loopback; empty where anything may be in it. */
  allowHosts: readonly string[];
}

/** Where the service listens unless it is told otherwise: nothing outside this machine reaches it. */
export const defaultHost = "127.0.0.1";

const isLoopback = (address: string): boolean => /^127\./.test(address) || address === "::1";
const inUrl = (address: string): string => (isIPv6(address) ? `[${address}]` : address);

/** A name as it is in a Host header, without a port. */
const hostName = /^([a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/i;

/**
 * Checks where a service is to listen. An address that others can reach has to be meant: it needs the names by which they
 * do. Throws a StartError.
 */
export function checkListening({ host, allowHosts }: Listening): Listening {
  if (!isIP(host))
    throw new StartError(`host: ${showValue(host)} is not allowed, must be an IP address such as 127.0.0.1 or 0.0.0.0`);
  const wrong = allowHosts.find((name) => !hostName.test(name));
  if (wrong !== undefined)
    throw new StartError(
      `allowHosts: ${showValue(wrong)} is not allowed, must be a host name or address without a port, such as serverless-compute`,
    );
  if (!isLoopback(host) && allowHosts.length === 0)
    throw new StartError(
      `host: ${host} can be reached from other machines; name the host by which clients are to reach the service with --allow-host HOST (allowHosts), or keep 127.0.0.1`,
    );
  return { host, allowHosts };
}

/** The root of the APIs as this machine reaches them. */
export function rootOf(host: string, port: number): string {
  if (host === "0.0.0.0") return `http://127.0.0.1:${port}`;
  return `http://${host === "::" ? "[::1]" : inUrl(host)}:${port}`;
}

/**
 * What is wrong with a request's Host header: no web page gets at a service through a name of its own that leads here. Where
 * no name was allowed, anything may be in it.
 */
export function createHostCheck({
  host,
  allowHosts,
}: Listening): (header: string | undefined) => ServiceError | undefined {
  if (allowHosts.length === 0) return () => undefined;
  const known = [...allowHosts, inUrl(host), "127.0.0.1", "localhost", "[::1]"].map((name) => name.toLowerCase());
  const allowed = new Set(known);
  return (header = "") => {
    const name = header.replace(/:\d+$/, "").toLowerCase();
    if (allowed.has(name)) return undefined;
    return new ServiceError(
      "misdirected",
      `header Host: ${showValue(header.slice(0, 100))} is not a host of this service; start it with --allow-host and that name`,
    );
  };
}

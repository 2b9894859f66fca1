import type { IncomingMessage } from "node:http";

/** The scheme and the authority of a target in absolute form. */
const absolutePart = /^https?:\/\/(?:[^/?#@]*@)?([^/?#]*)/i;

/**
 * Returns a request's path and query. Clients that treat the service as a proxy send a whole URL; its host then replaces the header
 * Host (RFC 9112, 3.2.2).
 */
export function originForm(request: IncomingMessage): string {
  const { url = "" } = request;
  const [prefix, host] = absolutePart.exec(url) ?? [];
  if (prefix === undefined) return url;
  request.headers.host = host;
  return url.slice(prefix.length).replace(/^(?!\/)/, "/");
}

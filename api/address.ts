import { invalidArgument, type RequestFacts } from "./errors";
import { createRedaction } from "./redaction";
import type { Dialect } from "./shapes";

/** Returns the facts about a request that errors contain, without key and query. */
export function requestFacts(request: { method: string; url: string; operation?: string }): RequestFacts {
  const url = new URL(request.url);
  const facts = { method: request.method, url: url.origin + url.pathname };
  return request.operation === undefined ? facts : { ...facts, operation: request.operation };
}

/**
 * An id as one segment of a path. Nothing that would make the path another one passes: an empty id would turn
 * `DELETE /endpoints/{id}` into `DELETE /endpoints/`, and URL normalization removes `..`.
 */
export function pathSegment(id: string, subject: string, request: { method: string; url: string }): string {
  if (id.trim() === "" || id === "." || id === "..") {
    throw invalidArgument(`the ${subject} id is ${JSON.stringify(id)}: it must be the id of an object`, request);
  }
  return encodeURIComponent(id);
}

/** Returns true if an address is this machine's own. */
export function isLoopback(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return host === "localhost" || host === "[::1]" || /^127\./.test(host);
}

/** Root of an endpoint's job API (interface: Endpoint). `serverlessUrl` is as `parseAddress` returns it. */
export function jobApiRoot(serverlessUrl: string, endpointId: string): string {
  const root = `${serverlessUrl}/v2`;
  return `${root}/${pathSegment(endpointId, "endpoint", { method: "GET", url: root })}`;
}

/** The version that a root of the REST API ends in; undefined if it ends in none. */
export function restVersionIn(baseUrl: string | undefined): Dialect | undefined {
  const [, version] = /\/(v[12])\/*$/.exec(baseUrl ?? "") ?? [];
  return version === "v1" || version === "v2" ? version : undefined;
}

/**
 * An address of the settings, without slashes at its end.
 * Throws a TypeError that names the setting, its value (never the key or a password) and what is allowed.
 */
export function parseAddress(setting: string, value: string, apiKey: string): string {
  const unusable = (rule: string): TypeError => {
    // Whatever stands before an @ may be a password, and a query may hold a key, another one than the setting's.
    const bare = value.replace(/\/\/.*@/s, "//").replace(/([?&#][^=&#]*=)[^&#]*/g, "$1…");
    return new TypeError(`${setting} is ${JSON.stringify(createRedaction([apiKey])(bare))}: it must ${rule}`);
  };
  if (!URL.canParse(value)) throw unusable("be a URL such as http://127.0.0.1:7337");
  const url = new URL(value);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw unusable("start with http:// or https://");
  if (url.username || url.password || url.hash || url.search)
    throw unusable("not contain a user name, a query or a fragment; the key has its own setting");
  return url.href.replace(/\/+$/, "");
}

/**
 * A proxy's address with its scheme, which people leave out. Throws a TypeError that names the setting and what is allowed;
 * the value stays out of it, for it may hold a password.
 */
export function parseProxy(setting: string, value: string): string {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const { protocol, hostname } = URL.canParse(text) ? new URL(text) : { protocol: "", hostname: "" };
  if ((protocol === "http:" || protocol === "https:") && hostname !== "") return text;
  throw new TypeError(`${setting} must be the address of a proxy, such as http://proxy.example.com:3128`);
}

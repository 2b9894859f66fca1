import { invalidArgument, type RequestInfo } from "./errors";
import { createRedaction } from "./redaction";
import type { Dialect } from "./shapes";
import { idPattern } from "./shapes/limits";

/** Returns the parts of a request that errors contain, without key and query. */
export function requestInfo(request: { method: string; url: string; operation?: string }): RequestInfo {
  const url = new URL(request.url);
  const info = { method: request.method, url: url.origin + url.pathname };
  return request.operation === undefined ? info : { ...info, operation: request.operation };
}

/** Returns an id; throws an ApiError if no object can have it. */
export function requireId(id: string, subject: string, request: RequestInfo): string {
  // A script in JavaScript may pass no id.
  if (typeof id === "string" && idPattern.test(id)) return id;
  throw invalidArgument(`the ${subject} id is ${JSON.stringify(id)}; must be the id of an object`, request);
}

/**
 * Encodes an id as one path segment; throws an ApiError if no object can have it. An empty id would turn `DELETE /endpoints/{id}` into
 * `DELETE /endpoints/`.
 */
export const pathSegment = (id: string, subject: string, request: RequestInfo): string =>
  encodeURIComponent(requireId(id, subject, request));

/** Returns whether an address is a loopback address. */
export function isLoopback(url: string): boolean {
  return URL.canParse(url) && /^(localhost|\[::1]|127[.\d]+)$/.test(new URL(url).hostname);
}

/** Root of an endpoint's job API (interface: Endpoint). `serverlessUrl` must be normalized by `parseAddress`; it may end with `/v2`. */
export function jobApiRoot(serverlessUrl: string, endpointId: string): string {
  const root = serverlessUrl.replace(/(\/v2)?$/, "/v2");
  return `${root}/${pathSegment(endpointId, "endpoint", { method: "GET", url: root })}`;
}

/** The version at the end of a REST API root; undefined if there is none. */
export function restVersionIn(baseUrl: string | undefined): Dialect | undefined {
  const [, version] = /\/(v[12])\/*$/.exec(baseUrl ?? "") ?? [];
  return version === "v1" || version === "v2" ? version : undefined;
}

/**
 * Parses an address of the settings and removes trailing slashes. Throws a TypeError that names the setting, its value (never the key or a
 * password) and the allowed values.
 */
export function parseAddress(setting: string, value: string, apiKey: string): string {
  const addressError = (rule: string): TypeError => {
    // Text before an @ may be a password, and a query may contain a key other than the setting's.
    const redactable = String(value)
      .replace(/\/\/.*@/s, "//")
      .replace(/([?&#][^=&#]*=)[^&#]*/g, "$1…");
    return new TypeError(`${setting} is ${JSON.stringify(createRedaction([apiKey])(redactable))}; must ${rule}`);
  };
  if (!URL.canParse(value)) throw addressError("be a URL such as http://127.0.0.1:7337");
  const url = new URL(value);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw addressError("start with http:// or https://");
  if (url.username || url.password || url.hash || url.search)
    throw addressError("not contain a user name, a query or a fragment; the key has its own setting");
  return url.href.replace(/\/+$/, "");
}

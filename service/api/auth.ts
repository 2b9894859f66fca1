import { timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { ServiceError } from "../errors";

/** Checks API keys in the form that each API takes them (interface: Authentication). The checks throw a ServiceError `unauthorized`. */
export interface Auth {
  /** Whether `key` is the service's API key; takes the same time for all keys of its length. */
  apiKeyMatches(key: string | undefined): boolean;
  /** REST: `Authorization: Bearer <key>` and nothing else. */
  checkRest(request: FastifyRequest): void;
  /** REST v2: as REST, in its own words. */
  checkRestV2(request: FastifyRequest): void;
  /** Job API: `Authorization: Bearer <key>` or the bare key. */
  checkJobs(request: Pick<FastifyRequest, "headers">): void;
  /** GraphQL: `?api_key=<key>` or `Authorization: Bearer <key>`. */
  checkGraphql(request: FastifyRequest): void;
  /** Whether a request of GraphQL has a key, be it right or wrong. */
  hasGraphqlKey(request: FastifyRequest): boolean;
}

const bearer = (header: string | undefined): string | undefined => /^Bearer +(\S+)\s*$/i.exec(header ?? "")?.[1];

/** The checks for one API key. */
export function createAuth(apiKey: string): Auth {
  const expected = Buffer.from(apiKey);
  const apiKeyMatches = (key: string | undefined): boolean => {
    if (key === undefined) return false;
    const given = Buffer.from(key);
    // How long the keys are is no secret.
    return given.length === expected.length && timingSafeEqual(given, expected);
  };
  const check = (form: string, ...keys: (string | undefined)[]): void => {
    if (keys.some(apiKeyMatches)) return;
    throw new ServiceError("unauthorized", `unauthorized: the API key is missing or wrong, send it as ${form}`);
  };
  return {
    apiKeyMatches,
    checkRest: ({ headers }) => check("the header Authorization: Bearer <key>", bearer(headers.authorization)),
    checkRestV2: ({ headers }) => {
      const key = bearer(headers.authorization);
      if (apiKeyMatches(key)) return;
      throw new ServiceError("unauthorized", key === undefined ? "missing bearer token" : "invalid API key");
    },
    checkJobs: ({ headers }) =>
      check("the header Authorization: Bearer <key>", bearer(headers.authorization), headers.authorization?.trim()),
    hasGraphqlKey: ({ headers, query }) => (queryKey(query) ?? headers.authorization) !== undefined,
    checkGraphql: ({ headers, query }) =>
      check("?api_key=<key> or the header Authorization: Bearer <key>", queryKey(query), bearer(headers.authorization)),
  };
}

function queryKey(query: unknown): string | undefined {
  if (typeof query !== "object" || query === null || !("api_key" in query)) return undefined;
  return typeof query.api_key === "string" ? query.api_key : undefined;
}

import { timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { ServiceError } from "../errors";

export type Auth = ReturnType<typeof createAuth>;

const bearerToken = (header: string | undefined): string | undefined => /^Bearer +(\S+)\s*$/i.exec(header ?? "")?.[1];

/** The keys in a header of the form `Bearer <key>` or `<key>`. */
export const keysIn = (header: string | undefined): (string | undefined)[] => [bearerToken(header), header?.trim()];

/** Compares keys in constant time for keys of the same length, which is not secret. */
export function isSameKey(sent: string | undefined, expected: string): boolean {
  if (sent === undefined) return false;
  const [sentBytes, expectedBytes] = [Buffer.from(sent), Buffer.from(expected)];
  return sentBytes.length === expectedBytes.length && timingSafeEqual(sentBytes, expectedBytes);
}

/** Checks API keys in the form of each API (interface: Authentication). The checks throw a ServiceError `unauthorized`. */
export function createAuth(apiKey: string) {
  const check = (form: string, ...keys: (string | undefined)[]): void => {
    if (keys.some((key) => isSameKey(key, apiKey))) return;
    throw new ServiceError("unauthorized", `unauthorized: the API key is missing or wrong; send it as ${form}`);
  };
  return {
    /** REST: only `Authorization: Bearer <key>`. */
    checkRest: ({ headers }: FastifyRequest): void =>
      check("the header Authorization: Bearer <key>", bearerToken(headers.authorization)),
    /**
     * REST v2: as REST, with its own messages. Returns the error for a missing or wrong key. If `allowsBareKey` is true, accepts the job API's
     * forms.
     */
    restV2Fault: ({ headers }: FastifyRequest, allowsBareKey: boolean): ServiceError | undefined => {
      const key = bearerToken(headers.authorization);
      const keys = allowsBareKey ? keysIn(headers.authorization) : [key];
      if (keys.some((one) => isSameKey(one, apiKey))) return;
      return new ServiceError("unauthorized", key === undefined ? "missing bearer token" : "invalid API key");
    },
    /** Job API: `Authorization: Bearer <key>` or the bare key. */
    checkJobs: ({ headers }: Pick<FastifyRequest, "headers">): void =>
      check("the header Authorization: Bearer <key>", ...keysIn(headers.authorization)),
    /** Returns whether a GraphQL request has a key, valid or not. */
    hasGraphqlKey: ({ headers, query }: FastifyRequest): boolean =>
      (queryKey(query) ?? headers.authorization) !== undefined,
    /** GraphQL: `?api_key=<key>` or `Authorization: Bearer <key>`. */
    checkGraphql: ({ headers, query }: FastifyRequest): void =>
      check(
        "?api_key=<key> or the header Authorization: Bearer <key>",
        queryKey(query),
        bearerToken(headers.authorization),
      ),
  };
}

function queryKey(query: unknown): string | undefined {
  if (typeof query !== "object" || query === null || !("api_key" in query)) return undefined;
  return typeof query.api_key === "string" ? query.api_key : undefined;
}

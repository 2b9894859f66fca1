import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ServiceError } from "../errors";
import { checkParsedText } from "../validation";

/** Adds a parser for bodies of these content types; rejects a compressed body, and one that is not UTF-8, because its decoded text would differ. */
function addTextParser(
  app: FastifyInstance,
  contentTypes: string[],
  parse: (text: string) => unknown,
  options: { bodyLimit?: number } = {},
): void {
  const parser = async ({ headers }: FastifyRequest, body: Buffer): Promise<unknown> => {
    if (!/^(?:identity)?$/i.test(headers["content-encoding"] ?? ""))
      throw new ServiceError("invalid", "header Content-Encoding: must be absent or identity");
    if (!isUtf8(body)) throw new ServiceError("invalid", "body: must be UTF-8 text");
    return parse(body.toString());
  };
  app.addContentTypeParser(contentTypes, { parseAs: "buffer", ...options }, parser);
}

/** The error for a body that is not declared as JSON. */
export const wrongContentType = (): ServiceError =>
  new ServiceError("invalid", "header Content-Type: must be application/json");

/** Rejects bodies of all content types without a parser. An empty body is none: some clients declare a type for it (cancel, purge). */
export function rejectOtherBodies(app: FastifyInstance): void {
  app.removeContentTypeParser("text/plain");
  app.addContentTypeParser("*", { parseAs: "buffer" }, async (_request: FastifyRequest, body: Buffer) => {
    if (body.length > 0) throw wrongContentType();
  });
}

/**
 * Parses the JSON bodies of a scope, and checks them with `checkParsedText`. An empty body is valid (cancel, purge). The error for a
 * malformed body does not quote it.
 */
export function parseJsonBodies(app: FastifyInstance, code: "invalid" | "unprocessable"): void {
  app.removeContentTypeParser("application/json");
  addTextParser(app, ["application/json"], (text) => {
    if (text.trim() === "") return undefined;
    const value = parseJson(text);
    checkParsedText(value, code);
    return value;
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceError("invalid", "body: must be valid JSON");
  }
}

/** Passes bodies of these content types as text to the routes of a scope, which parse only the members that they need. */
export function keepBodyText(app: FastifyInstance, contentTypes: string[], bodyLimit?: number): void {
  app.removeContentTypeParser(contentTypes);
  addTextParser(app, contentTypes, (text) => text, bodyLimit === undefined ? {} : { bodyLimit });
}

/** The body text of a request in a scope of `keepBodyText`; empty without a body. */
export const bodyText = ({ body }: FastifyRequest): string => (typeof body === "string" ? body : "");

/** The error for a body above a limit in bytes. */
export const bodyTooLarge = (limit: number): ServiceError =>
  new ServiceError("tooLarge", `body: is too large; the limit is ${limit / 1024 ** 2} MB (${limit} bytes)`);

/** Returns whether a request has a body. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** Maximum time for reading a rejected body, ms; then the connection is closed. */
const discardTimeout = 10_000;

/**
 * Reads and discards the rest of a rejected body. Otherwise, a client that is still sending when the connection closes would get a
 * connection error instead of the error response.
 */
export function discardBody(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (request.complete || request.destroyed) return resolve();
    const finish = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(finish, discardTimeout);
    request.once("end", finish).once("close", finish).resume();
  });
}

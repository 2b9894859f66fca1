import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { errorKindOf, internalError, issuesText, issueText, ServiceError } from "../errors";
import type { OpenResponses } from "./connections";
import { nameInGraphql, nameInRestV2 } from "./property-names";
import { bodyTooLarge, wrongContentType } from "./request-body";

/** Root path of each API. */
export const roots = { rest: "/v1", graphql: "/graphql", jobs: "/v2", loadBalancers: "/load-balancers" } as const;

/** First path segments of REST v2, which shares its root with the job API; no endpoint id equals one of them. */
export const reservedWords = [
  "account",
  "serverless",
  "templates",
  "network-volumes",
  "global-volumes",
  "registries",
  "catalog",
  "billing",
  "pods",
] as const;

/** A time of a record in ISO 8601; `ms` since the epoch. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();

const isRestV2 = (path: string): boolean => {
  const [, root, segment = ""] = path.split(/[/?]/, 3);
  return `/${root}` === roots.jobs && reservedWords.some((reserved) => reserved === segment);
};

/** Sends an error in the form of the path's API. */
function sendError(reply: FastifyReply, path: string, error: ServiceError): void {
  if (isRestV2(path)) sendProblem(reply, error);
  else reply.status(error.status).send(errorBody(path, error));
}

/** Sends an error in the form of REST v2. */
function sendProblem(reply: FastifyReply, error: ServiceError): void {
  reply
    .status(error.status)
    .type("application/problem+json")
    .send(JSON.stringify(problemOf(error)));
}

/** The error body of REST v2. `errors` contains the issues of an error with a fixed detail. */
function problemOf({ code, status, issues }: ServiceError): object {
  const { detail } = errorKindOf(code);
  const errors = issues.map((issue) => issueText(issue, nameInRestV2));
  return {
    title: STATUS_CODES[status],
    status,
    ...(detail === undefined ? { detail: errors.join("; ") } : { detail, errors }),
  };
}

/** The error body of the other APIs. */
function errorBody(path: string, error: ServiceError): object {
  const { message, issues } = error;
  if (path.startsWith(roots.graphql)) return { data: null, errors: [{ message: issuesText(issues, nameInGraphql) }] };
  if (path.startsWith(`${roots.loadBalancers}/`)) return { error: message };
  if (!path.startsWith(`${roots.jobs}/`)) return { message };
  return path.split("/", 4)[3] === "openai" ? openaiErrorBody(error) : { error: message };
}

/** Sends an error in the form of the requested API; `report` receives internal errors. */
export function sendRequestError(
  error: FastifyError | ServiceError,
  request: FastifyRequest,
  reply: FastifyReply,
  report: (error: unknown) => void,
): void {
  const serviceError = error instanceof ServiceError ? error : translateError(error, request);
  if (serviceError.code === "internal") report(error);
  sendError(reply.headers(serviceError.headers), request.url, serviceError);
}

/** Translates an error of the framework to the interface's messages and statuses. */
function translateError(error: FastifyError, { routeOptions }: FastifyRequest): ServiceError {
  if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE") return bodyTooLarge(routeOptions.bodyLimit ?? 0);
  if (error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") return wrongContentType();
  // The framework's messages quote the URL, whose query may contain a key.
  if (error.code === "FST_ERR_BAD_URL") return new ServiceError("invalid", "address: must be a valid URL");
  if (error.statusCode !== undefined && error.statusCode < 500) return new ServiceError("invalid", error.message);
  return internalError();
}

/**
 * Sends the response for an unknown path or method. Its message omits the query, which may contain a key. Below the root of the
 * job API, paths without the id of an endpoint are unknown paths of REST v2, which checks key and rate limit first. Only paths that begin
 * like REST v2's require the form with `Bearer` (interface: Authentication, 2). Without a key, the response does not depend on the
 * endpoint's existence.
 */
export function rejectUnknownRoute(
  request: FastifyRequest,
  reply: FastifyReply,
  restV2?: {
    isEndpoint(id: string): boolean;
    admissionFault(request: FastifyRequest, reply: FastifyReply, allowsBareKey: boolean): ServiceError | undefined;
  },
): void {
  const path = request.url.replace(/\?.*$/s, "");
  const notFoundError = new ServiceError("missing", `route ${request.method} ${path} not found`);
  const [, root, segment = ""] = path.split("/", 3);
  if (!restV2 || `/${root}` !== roots.jobs) {
    sendError(reply, path, notFoundError);
    return;
  }
  const error = restV2.admissionFault(request, reply, !isRestV2(path)) ?? notFoundError;
  if (error.code !== "unauthorized" && restV2.isEndpoint(segment)) sendError(reply, path, notFoundError);
  else sendProblem(reply.headers(error.headers), error);
}

/** The error for a request rejected by Node's parser. */
function parserError(code: string | undefined): ServiceError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new ServiceError("requestTimedOut", "request: did not arrive in time");
  if (code === "HPE_HEADER_OVERFLOW") return new ServiceError("headersTooLarge", "headers: are too large");
  return new ServiceError("invalid", "request: must be valid HTTP");
}

/**
 * Creates a handler of incomplete and malformed requests. It sends the error in the forms of all APIs, because its API is unknown, after
 * the responses to earlier requests of the connection, and closes the connection.
 */
export function createMalformedRequestHandler(openResponses: OpenResponses) {
  /** Connections with an error. Node reports further errors for the bytes that follow. */
  const rejected = new WeakSet<Socket>();

  function sendParserError(error: Error & { code?: string }, socket: Socket): void {
    const open = openResponses(socket);
    const malformed = open.find(({ req }) => !req.complete);
    const earlier = open.filter((response) => response !== malformed).at(-1);
    if (earlier) return void earlier.once("close", () => sendParserError(error, socket));
    // An error in the middle of a response would look like a part of it.
    if (malformed?.headersSent || !socket.writable) return void socket.destroy();
    const { status, message } = parserError(error.code);
    const body = JSON.stringify({ message, error: message, data: null, errors: [{ message }] });
    const length = `Content-Length: ${Buffer.byteLength(body)}`;
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n${length}`;
    socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy());
  }

  return (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === "ECONNRESET" || socket.destroyed || rejected.has(socket)) return;
    rejected.add(socket);
    sendParserError(error, socket);
  };
}

/** The error body of OpenAI's API: `{"error": {message, type, param, code}}`. */
export function openaiErrorBody({ code, message }: ServiceError): object {
  const { type, openaiCode } = errorKindOf(code);
  return { error: { message, type, param: null, code: openaiCode } };
}

import { type IncomingMessage, type ServerResponse, STATUS_CODES, request as send } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { ServiceError } from "../errors";
import type { Lease } from "../workers/balancer";
import { bodyTooLarge, discardBody } from "./request-body";

/** The connection of a WebSocket request. */
export interface Upgrade {
  socket: Socket;
  /** Bytes that arrived after the request's head. */
  head: Buffer;
  response: ServerResponse;
}

const payloadLimit = limits.loadBalancerPayload;

/** Hop-by-hop headers (RFC 9110, 7.6.1), which a proxy does not forward. */
const hopByHop = ["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"];

/** A message's headers for the next hop, as alternating names and values, without hop-by-hop and `omitted` headers. */
function forwardedHeaders({ headers, rawHeaders }: IncomingMessage, omitted: string[] = []): string[] {
  const connectionHeaders = (headers.connection ?? "").toLowerCase().split(/\s*,\s*/);
  const droppedHeaders = new Set([...hopByHop, ...connectionHeaders, ...omitted]);
  return rawHeaders.filter(
    (_text, index) => !droppedHeaders.has((rawHeaders[index - (index % 2)] ?? "").toLowerCase()),
  );
}

/** The endpoint's prefix of a request's path, which is not forwarded. */
const endpointPrefix = /^\/[^/]+\/[^/?]*/;

/** A request's headers for the worker: without the API key, but with the address used by the client. */
function requestHeaders({ raw, ip, protocol, host }: FastifyRequest, isUpgrade: boolean): string[] {
  const [prefix = ""] = endpointPrefix.exec(raw.url ?? "") ?? [];
  const headers = forwardedHeaders(raw, ["authorization", "expect"]);
  headers.push("x-forwarded-for", ip, "x-forwarded-host", host, "x-forwarded-proto", protocol);
  headers.push("x-forwarded-prefix", prefix, "connection", isUpgrade ? "upgrade" : "close");
  if (isUpgrade) headers.push("upgrade", raw.headers.upgrade ?? "");
  if (raw.headers["transfer-encoding"] !== undefined) headers.push("transfer-encoding", "chunked");
  return headers;
}

/**
 * Forwards a request to a worker and the response to the client. Resolves at the end of the exchange, with true if the worker responded
 * without a server error. Rejects with a ServiceError on a failure before the response begins; a later failure closes the connection.
 *
 * Each request uses a new connection to the worker: a worker may close a kept-alive connection just as a request is sent on it, and a
 * request that is not idempotent must not be sent twice.
 */
export function forward(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    lease,
    upgrade,
    isDropped,
    timeLimit,
    clock,
  }: {
    lease: Pick<Lease, "server" | "workerId">;
    upgrade: Upgrade | undefined;
    /** Returns whether the response must be dropped. */
    isDropped(): boolean;
    /** Timeout of the exchange, ms. */
    timeLimit: number;
    clock: Clock;
  },
): Promise<boolean> {
  const { server, workerId } = lease;
  const { raw } = request;
  const client = reply.raw;
  const connection = upgrade?.socket ?? client;
  return new Promise((resolve, reject) => {
    const path = (raw.url ?? "").replace(endpointPrefix, "").replace(/^(?!\/)/, "/");
    const headers = requestHeaders(request, upgrade !== undefined);
    const workerRequest = send({
      host: server.host,
      port: server.port,
      path,
      method: request.method,
      headers,
      agent: false,
    });
    const ended = new AbortController();
    let hasBegun = false;
    let succeeded = false;

    function beginResponse(): void {
      if (!hasBegun) reply.hijack();
      hasBegun = true;
    }
    function failExchange(error: ServiceError): void {
      raw.unpipe(workerRequest);
      workerRequest.destroy();
      if (hasBegun) return void connection.destroy();
      // Otherwise, a client that is still sending would get a connection error instead of the error response.
      const bodyRead = upgrade ? Promise.resolve() : discardBody(raw);
      void bodyRead.then(() => reject(error));
    }
    const failWorker = (problem: string): void =>
      failExchange(new ServiceError("badGateway", `worker ${workerId}: ${problem}`));

    connection.once("close", () => {
      beginResponse();
      ended.abort();
      workerRequest.destroy();
      resolve(succeeded);
    });
    clock.sleep(timeLimit, ended.signal).then(
      () =>
        failExchange(
          new ServiceError("processingTimedOut", `worker ${workerId}: did not finish in ${timeLimit / 1000} s`),
        ),
      () => undefined,
    );
    workerRequest.on("error", (error) => hasBegun || failWorker(`the request failed: ${error.message}`));
    workerRequest.on("response", (response) => {
      const { statusCode = 502, statusMessage } = response;
      beginResponse();
      if (isDropped()) return void client.destroy();
      succeeded = statusCode < 500;
      client.writeHead(statusCode, statusMessage, [...forwardedHeaders(response), "x-worker-id", workerId]);
      checkSize(response, () => failWorker(`its response exceeds ${payloadLimit / 1024 ** 2} MB`));
      response.on("error", () => undefined);
      response.once("close", () => response.complete || failWorker("its response ended early"));
      response.pipe(client);
    });
    workerRequest.on("upgrade", (response, worker, workerHead) => {
      if (!upgrade) return failWorker("it switched protocols without a request to do so");
      beginResponse();
      succeeded = true;
      joinSockets(upgrade, response, worker, workerHead);
    });
    if (upgrade) return void workerRequest.end();
    checkSize(raw, () => failExchange(bodyTooLarge(payloadLimit)));
    raw.pipe(workerRequest);
  });
}

/** Calls `onExceeded` once a body exceeds the limit. */
function checkSize(body: IncomingMessage, onExceeded: () => void): void {
  let bytes = 0;
  const count = (part: Buffer): void => {
    bytes += part.length;
    if (bytes <= payloadLimit) return;
    body.off("data", count);
    onExceeded();
  };
  body.on("data", count);
}

/** Connects the sockets of the client and of the worker, which accepted the upgrade; each ends with the other. */
function joinSockets(
  { socket, head, response: upgradeResponse }: Upgrade,
  { rawHeaders, statusCode = 101 }: IncomingMessage,
  worker: Duplex,
  workerHead: Buffer,
): void {
  upgradeResponse.detachSocket(socket);
  const headerLines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  socket.write(`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${headerLines.join("")}\r\n`, "latin1");
  socket.write(workerHead);
  worker.write(head);
  worker.on("error", () => undefined).once("close", () => socket.destroy());
  socket.once("close", () => worker.destroy());
  worker.pipe(socket);
  socket.pipe(worker);
}

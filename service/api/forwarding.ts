/**
 * Forwards headers as they were sent, and WebSockets byte by byte. `@fastify/http-proxy` changes the case of headers, parses WebSocket
 * frames, and adds 13 packages.
 */

import { type ClientRequest, type IncomingMessage, STATUS_CODES, request as send } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { ServiceError } from "../errors";
import type { Lease } from "../workers/balancer";
import { bodyTooLarge, discardBody } from "./request-body";
import type { Upgrade } from "./upgrades";

const payloadLimit = limits.loadBalancerPayload;

/** Hop-by-hop headers (RFC 9110, 7.6.1), which a proxy does not forward. */
const hopByHop = ["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"];

/** A message's headers for the next hop, as alternating names and values, without hop-by-hop headers and those that match `omitted`. */
function forwardedHeaders({ headers, rawHeaders }: IncomingMessage, omitted: RegExp): string[] {
  const droppedHeaders = new Set([...hopByHop, ...(headers.connection ?? "").toLowerCase().split(/\s*,\s*/)]);
  return rawHeaders.filter((_text, index) => {
    const name = (rawHeaders[index - (index % 2)] ?? "").toLowerCase();
    return !droppedHeaders.has(name) && !omitted.test(name);
  });
}

/** Headers of a client that are not forwarded: its key, and the headers that the service writes itself. */
const replacedHeaders = /^(authorization|expect|host|content-length|forwarded|x-forwarded-.*)$/;

/** The endpoint's prefix of a request's path, which is not forwarded. */
const endpointPrefix = /^\/[^/]+\/[^/?]*/;

/** A request's headers for the worker: without the API key, but with the address used by the client. */
function requestHeaders({ raw, ip, protocol, host }: FastifyRequest, isUpgrade: boolean): string[] {
  const [prefix = ""] = endpointPrefix.exec(raw.url ?? "") ?? [];
  const { upgrade, "content-length": length, "transfer-encoding": encoding } = raw.headers;
  const headers = forwardedHeaders(raw, replacedHeaders);
  headers.push("host", host, "x-forwarded-for", ip, "x-forwarded-host", host, "x-forwarded-proto", protocol);
  headers.push("x-forwarded-prefix", prefix, "connection", isUpgrade ? "upgrade" : "close");
  if (isUpgrade && upgrade !== undefined) headers.push("upgrade", upgrade);
  if (length !== undefined) headers.push("content-length", length);
  if (encoding !== undefined) headers.push("transfer-encoding", encoding);
  return headers;
}

/** The head of a worker's response, and its connection if it switched protocols. */
interface WorkerHead {
  response: IncomingMessage;
  switched?: { socket: Duplex; head: Buffer };
}

/** Resolves with the head of the response; rejects if there is none. */
const headOf = (workerRequest: ClientRequest): Promise<WorkerHead> =>
  new Promise((resolve, reject) =>
    workerRequest
      .on("error", reject)
      .once("response", (response) => resolve({ response }))
      .once("upgrade", (response, socket, head) => resolve({ response, switched: { socket, head } })),
  );

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
    // Undefined after a reset that Node has not reported yet.
    if (connection.destroyed || raw.socket.remoteAddress === undefined) return resolve(false);
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
    /** Sends the worker's response to the client; throws if it is not one that a server may send. */
    function sendResponse({ response, switched }: WorkerHead): void {
      const { statusCode = 0 } = response;
      if (switched && upgrade) {
        beginResponse();
        succeeded = true;
        joinSockets(upgrade, response, switched.socket, switched.head);
        return;
      }
      switched?.socket.destroy();
      if (switched || statusCode < 200) throw new Error(`its response has the status ${statusCode}`);
      if (!isDropped())
        client.writeHead(statusCode, [...forwardedHeaders(response, /^x-worker-id$/), "x-worker-id", workerId]);
      beginResponse();
      if (isDropped()) return void client.destroy();
      succeeded = statusCode < 500;
      checkSize(response, () => failWorker(`its response exceeds ${payloadLimit / 1024 ** 2} MB`));
      response.on("error", () => undefined);
      response.once("close", () => response.complete || failWorker("its response ended early"));
      response.pipe(client);
    }
    headOf(workerRequest)
      .then(sendResponse)
      .catch((error: Error) => failWorker(`the request failed: ${error.message}`));
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
  worker.on("error", () => undefined).once("close", () => socket.destroySoon());
  socket.once("close", () => worker.destroy());
  worker.pipe(socket);
  socket.pipe(worker);
}

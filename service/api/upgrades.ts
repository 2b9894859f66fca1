import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import type { OpenResponses } from "./connections";

/** The connection of a WebSocket request. */
export interface Upgrade {
  socket: Socket;
  /** Bytes that arrived after the request's head. */
  head: Buffer;
  response: ServerResponse;
}

/**
 * Serves requests with a header Upgrade, for which Node detaches its HTTP server from the connection. `serve` receives the requests for
 * which `isForwarded` returns true; all others are served as if they had no such header.
 */
export function serveUpgrades(
  server: Server,
  {
    isForwarded,
    serve,
    openResponses,
    log,
  }: {
    isForwarded(request: IncomingMessage): boolean;
    serve(request: IncomingMessage, upgrade: Upgrade): void;
    openResponses: OpenResponses;
    log: Pick<Logger, "error">;
  },
): void {
  function start(request: IncomingMessage, socket: Socket, head: Buffer): void {
    // An earlier response may have ended the connection.
    if (!socket.writable) return void socket.destroy();
    socket.setTimeout(0);
    if (!isForwarded(request)) return void serveWithoutUpgrade(server, request, socket, head);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    socket.on("drain", () => response.emit("drain"));
    // Unread bytes would hide the client's end.
    response.once("finish", () => socket.resume().destroySoon());
    serve(request, { socket, head, response });
  }

  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!(socket instanceof Socket)) return void socket.destroy();
    const startContained = (): void => {
      try {
        start(request, socket, head);
      } catch (error) {
        log.error({ err: error }, "upgrade failed; its connection is closed");
        socket.destroy();
      }
    };
    const earlier = openResponses(socket);
    const last = earlier.at(-1);
    if (!last) return startContained();
    // Pipelined requests: Node no longer reports to the earlier responses that the connection accepts more data.
    const resume = (): void => {
      for (const response of earlier) response.emit("drain");
    };
    socket.on("drain", resume);
    last.once("close", () => {
      socket.off("drain", resume);
      startContained();
    });
  });
}

/** Serves a request and ignores its offer to upgrade to another protocol, such as HTTP/2. */
function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    if (name.toLowerCase() !== "upgrade") lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

import { constants, createServer, type ServerHttp2Stream } from "node:http2";
import type { Server as Listener } from "node:net";
import { messageOf } from "./error-text";
import { CallFailure, encodeHeaderText, frameMessage, isCallFailure, status, unframeMessage } from "./grpc";

/** Bytes of the response; a list if the call streams its messages. */
export type Reply = Uint8Array | readonly Uint8Array[];

/** Handler of a call, from the bytes of the request to the bytes of the response. */
export type Call = (request: Buffer) => Reply | Promise<Reply>;

/** Maximum size of a message (bytes); the engine sends an entire state in one message. */
const maxMessageLength = 400 * 1024 * 1024;
/** Flow-control window (bytes): data that a peer may send before it has been read. */
const window = 16 * 1024 * 1024;

/** Serves gRPC calls with a single request message, by path, on the connections of a listening server. */
export function serveCalls(
  listener: Listener,
  callAt: (path: string) => Call | undefined,
  limit = maxMessageLength,
): void {
  const server = createServer({
    settings: { initialWindowSize: window },
    // A failed create returns its entire state in a header.
    maxSendHeaderBlockLength: maxMessageLength,
    // Megabytes. With the default of 10, a large state would block all other calls while it is sent.
    maxSessionMemory: 1024,
  });
  server.on("session", (session) => session.setLocalWindowSize(window));
  server.on("stream", (stream, headers) => {
    // The engine abandoned the call, so the response is dropped.
    stream.on("error", () => {});
    const isCall = headers[":method"] === "POST" && /^application\/grpc\b/.test(headers["content-type"] ?? "");
    if (!isCall) return stream.respond({ ":status": 415 }, { endStream: true });
    receive(stream, limit, async (body) => {
      const path = headers[":path"] ?? "";
      const call = callAt(path);
      if (!call) throw new CallFailure(status.unimplemented, `${path} is not part of this provider`);
      return call(unframeMessage(body()));
    });
  });
  listener.on("connection", (socket) => server.emit("connection", socket));
}

/** Reads a request to its end and sends the result or the error of `handle`. */
function receive(stream: ServerHttp2Stream, limit: number, handle: (body: () => Buffer) => Promise<Reply>): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const body = (): Buffer => {
    const [first = Buffer.alloc(0)] = chunks;
    return chunks.length > 1 ? Buffer.concat(chunks) : first;
  };
  stream.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
    else {
      chunks.length = 0;
      reject(stream, new CallFailure(status.exhausted, `the message is longer than ${limit} bytes`));
      stream.close(constants.NGHTTP2_NO_ERROR);
    }
  });
  stream.on("end", () => {
    if (size > limit) return;
    handle(body).then(
      (reply) => respond(stream, reply),
      (thrown: unknown) => reject(stream, thrown),
    );
  });
}

const responseHeaders = { ":status": 200, "content-type": "application/grpc" };

function respond(stream: ServerHttp2Stream, reply: Reply): void {
  if (stream.destroyed || stream.headersSent) return;
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(status.ok) }));
  stream.respond(responseHeaders, { waitForTrailers: true });
  if (reply instanceof Uint8Array) stream.end(frameMessage(reply));
  else stream.end(Buffer.concat(reply.map(frameMessage)));
}

function reject(stream: ServerHttp2Stream, thrown: unknown): void {
  if (stream.destroyed || stream.headersSent) return;
  const failure = isCallFailure(thrown) ? thrown : new CallFailure(status.unknown, messageOf(thrown));
  const details = failure.details && Buffer.from(failure.details).toString("base64");
  stream.respond(
    {
      ...responseHeaders,
      "grpc-status": String(failure.code),
      "grpc-message": encodeHeaderText(failure.message),
      ...(details === undefined ? {} : { "grpc-status-details-bin": details }),
    },
    { endStream: true },
  );
}

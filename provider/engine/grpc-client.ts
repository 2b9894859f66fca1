import type { ClientHttp2Session, IncomingHttpHeaders } from "node:http2";
import { CallFailure, frameMessage, status, unframeMessage } from "./grpc";

/** Makes a unary gRPC call on a connection and returns the message of its response; rejects with a CallFailure. */
export function callUnary(session: ClientHttp2Session, path: string, request: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    const chunks: Buffer[] = [];
    let failure: CallFailure | undefined = new CallFailure(status.unavailable, `${path}: the connection ended`);
    const readStatus = (headers: IncomingHttpHeaders): void => {
      const { "grpc-status": code, "grpc-message": text = "" } = headers;
      if (code !== undefined)
        failure =
          Number(code) === status.ok ? undefined : new CallFailure(Number(code), decodeHeaderText(String(text)));
    };
    // A call that fails immediately has its status in the response headers.
    stream.on("response", readStatus);
    stream.on("trailers", readStatus);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", () => {});
    stream.on("close", () => {
      if (failure) return reject(failure);
      try {
        resolve(unframeMessage(Buffer.concat(chunks)));
      } catch (thrown) {
        reject(thrown);
      }
    });
    stream.end(frameMessage(request));
  });
}

/** Decodes a percent-encoded status message. */
function decodeHeaderText(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}

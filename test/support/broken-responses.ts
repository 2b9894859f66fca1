import type { IncomingMessage, ServerResponse } from "node:http";

/** A scripted response. */
export interface ScriptedResponse {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** Closes the connection without a response, like a stopping process. */
export function hangUp(request: IncomingMessage): void {
  request.socket.destroy();
}

/** Resets the connection, like a crashing process or a middlebox. */
export function reset(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}

/** Sends the head and half of the body, then ends the connection; without a body, only ends it. */
export function sendHalf(response: ServerResponse, scripted: ScriptedResponse & { chunked?: boolean }): void {
  const body = Buffer.from(scripted.body ?? "");
  if (body.length === 0) return void response.socket?.destroy();
  response.writeHead(scripted.status, {
    ...scripted.headers,
    ...(scripted.chunked ? {} : { "content-length": body.length }),
  });
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.socket?.destroy());
}

/** Reads a body to its end. */
export async function readBody(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

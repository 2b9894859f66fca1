/** Client of the few engine calls that workers need. The library `dockerode` adds 66 packages, two of which build native code. */

import { type IncomingMessage, type RequestOptions, request as requestPlainly } from "node:http";
import { request as requestByTls } from "node:https";
import { text } from "node:stream/consumers";
import { parseBody, rejectionReason } from "../rejection";
import type { EngineAddress } from "./engine-address";

/** A call that the engine rejected, or that received no response (`status` 0). The message comes from the engine. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

interface EngineCall {
  query?: Record<string, string>;
  body?: object;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A client of the Engine API, Docker's or Podman's. */
export type EngineClient = ReturnType<typeof createEngineClient>;

/** Creates a client. Paths have no version, so that each engine uses its newest. */
export function createEngineClient({ displayUrl, tls, ...address }: EngineAddress) {
  const request = tls ? requestByTls : requestPlainly;

  function send(method: string, path: string, call: EngineCall): Promise<IncomingMessage> {
    const query = call.query ? `?${new URLSearchParams(call.query)}` : "";
    const body = call.body && JSON.stringify(call.body);
    const headers = { host: "docker", ...call.headers, ...(body ? { "content-type": "application/json" } : {}) };
    const { signal } = call;
    const options: RequestOptions = { ...address, ...tls, method, path: path + query, headers, agent: false, signal };
    return new Promise((resolve, reject) => {
      const outgoing = request(options, resolve);
      outgoing.once("error", (error: NodeJS.ErrnoException) => {
        const reason = signal?.aborted ? "no response in time" : error.message;
        reject(new EngineError(0, `no Docker Engine responds at ${displayUrl}: ${reason}`, { cause: error }));
      });
      outgoing.end(body);
    });
  }

  /** Sends a call; resolves with the response as a stream. Rejects with an EngineError. */
  async function open(method: string, path: string, call: EngineCall = {}): Promise<IncomingMessage> {
    const response = await send(method, path, call);
    const { statusCode = 0 } = response;
    if (statusCode < 400) return response;
    const body = await readText(response, displayUrl);
    throw new EngineError(statusCode, rejectionReason(statusCode, body));
  }

  return {
    open,
    /** Sends a call and reads the response; resolves with its JSON, or undefined if it is empty. Rejects with an EngineError. */
    async call(method: string, path: string, call?: EngineCall): Promise<unknown> {
      const body = await readText(await open(method, path, call), displayUrl);
      return body === "" ? undefined : parseBody(body);
    },
  };
}

const readText = (response: IncomingMessage, displayUrl: string): Promise<string> =>
  text(response).catch((error: unknown) => {
    throw new EngineError(0, `the Docker Engine at ${displayUrl} closed the connection`, { cause: error });
  });

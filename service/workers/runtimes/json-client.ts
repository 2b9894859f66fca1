import { type IncomingMessage, type RequestOptions, request as requestPlainly } from "node:http";
import { request as requestByTls } from "node:https";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { codeOf } from "../../errors";

/** A call that a server rejected, or that received no response (`status` 0). The message comes from the server. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** The parts of a call beside its method and path. */
export interface Call {
  query?: Record<string, string>;
  body?: object;
  headers?: Record<string, string>;
  /** Status of a rejection that counts as success. */
  accepts?: number;
  signal?: AbortSignal;
}

/** A client of a server's API. */
export type JsonClient = ReturnType<typeof createJsonClient>;

/** Interval at which an unused connection is checked, ms. */
const keepAliveInterval = 30_000;

const rejection = z.looseObject({ message: z.string() });

/**
 * Creates a client of a server's API, whose bodies are JSON. `server` names the server in messages, such as `the Docker Engine at ADDRESS`.
 * `connect` adds the connection's options to those of a request.
 */
export function createJsonClient(
  server: string,
  connect: (request: RequestOptions) => RequestOptions | Promise<RequestOptions>,
) {
  async function send(method: string, path: string, call: Call): Promise<IncomingMessage> {
    const { query, signal } = call;
    const body = call.body && JSON.stringify(call.body);
    const headers = {
      ...(body ? { "content-type": "application/json", "content-length": Buffer.byteLength(body) } : {}),
      ...call.headers,
    };
    const search = query ? `?${new URLSearchParams(query)}` : "";
    const options = await connect({ method, path: `${path}${search}`, headers, signal });
    const request = options.protocol === "https:" ? requestByTls : requestPlainly;
    return new Promise((resolve, reject) => {
      let hasResponse = false;
      const outgoing = request(options, (response) => {
        hasResponse = true;
        resolve(response);
      });
      // Finds the end of a connection whose other side is gone.
      outgoing.on("socket", (socket) => socket.setKeepAlive(true, keepAliveInterval));
      outgoing.once("error", (error) => {
        // The response as a stream reports it, too.
        if (hasResponse) return;
        // The server had closed the kept connection.
        if (outgoing.reusedSocket && !signal?.aborted) return resolve(send(method, path, call));
        const reason = signal?.aborted ? "no response in time" : error.message || codeOf(error);
        reject(new CallError(0, `${server} does not respond: ${reason}`, { cause: error }));
      });
      outgoing.end(body);
    });
  }

  /** The error of a response that has ended early. */
  const interruption = (cause: unknown): CallError => new CallError(0, `${server} closed the connection`, { cause });

  const readText = (response: IncomingMessage): Promise<string> =>
    text(response).catch((error: unknown) => {
      throw interruption(error);
    });

  /** Sends a call; resolves with the response as a stream. Rejects with a CallError. */
  async function open(method: string, path: string, call: Call = {}): Promise<IncomingMessage> {
    const response = await send(method, path, call);
    const { statusCode = 0 } = response;
    if (statusCode < 400 || statusCode === call.accepts) return response;
    throw new CallError(statusCode, rejectionReason(statusCode, await readText(response)));
  }

  return {
    open,
    interruption,
    /** Sends a call; resolves with the JSON of the response, or undefined without JSON. Rejects with a CallError. */
    call: async (method: string, path: string, call?: Call): Promise<unknown> =>
      parseBody(await readText(await open(method, path, call))),
  };
}

/** The JSON in the body of a response; undefined if it is none. */
function parseBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The reason in the body of a response that rejects a call: the message of its JSON, otherwise its text or its status. */
const rejectionReason = (status: number, body: string): string =>
  rejection.safeParse(parseBody(body)).data?.message ?? (body.trim() || `status ${status}`);

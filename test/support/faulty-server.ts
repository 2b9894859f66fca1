import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { hangUp, readBody, reset, type ScriptedResponse, sendHalf } from "./broken-responses";
import type { AtEnd } from "./folders";
import { closeServer, listenOnLoopback } from "./loopback";

/** Reaction of the server to one request. */
export type Behaviour =
  | ({ action: "respond" } & ScriptedResponse)
  /** Ends the connection without reading the body. */
  | { action: "hang up unread" }
  /** Reads the whole request, then ends the connection. */
  | { action: "hang up" }
  /** Reads the whole request, then resets the connection. */
  | { action: "reset" }
  /** Sends half of a response, then closes the connection. */
  | ({ action: "truncate"; chunked?: boolean } & ScriptedResponse)
  /** Reads the whole request and never responds. */
  | { action: "hang" };

/** A received request. */
export interface ReceivedRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A server with scripted responses. */
export interface FaultyServer {
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  /** Every request that reached it, in order. */
  readonly requests: ReceivedRequest[];
  /** Connections opened to it so far. */
  connections(): number;
  close(): Promise<void>;
}

/** A JSON response. */
export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Behaviour => ({
  action: "respond",
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

/** Starts the server on a free port; it stops at the end. `behaviours` returns the reaction to a request, or lists reactions in order; the last one repeats. */
export async function startFaultyServer(
  behaviours: Behaviour[] | ((request: ReceivedRequest, count: number) => Behaviour),
  atEnd: AtEnd = onTestFinished,
): Promise<FaultyServer> {
  const requests: ReceivedRequest[] = [];

  function behaviourFor(request: ReceivedRequest): Behaviour {
    if (typeof behaviours === "function") return behaviours(request, requests.length);
    return behaviours[Math.min(requests.length, behaviours.length) - 1] ?? { action: "respond", status: 500 };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    const received: ReceivedRequest = { method, url, headers, body: "" };
    requests.push(received);
    // Plans that check bodies require the complete body; only the reaction `hang up unread` does not read it.
    if (Array.isArray(behaviours) && behaviourFor(received).action === "hang up unread") return hangUp(request);
    received.body = (await readBody(request)).toString("utf8");
    const behaviour = behaviourFor(received);
    switch (behaviour.action) {
      case "respond":
        response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body);
        return;
      case "truncate":
        return sendHalf(response, behaviour);
      case "hang up":
      case "hang up unread":
        return hangUp(request);
      case "reset":
        return reset(request);
      case "hang":
        return;
    }
  }

  // Tests include clients that abort a request, so this is not a failure of the server.
  const server = createServer((request, response) => void serve(request, response).catch(() => request.destroy()));
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  const origin = await listenOnLoopback(server);
  const close = () => closeServer(server);
  atEnd(close);
  return { origin, requests, connections: () => connections, close };
}

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { answerHalf, hangUp, readBody, reset, type WholeAnswer } from "./broken-answers";
import { listenOnLoopback, shut } from "./loopback";

/** Reaction of the server to one request. */
export type Behaviour =
  | ({ does: "answer" } & WholeAnswer)
  /** Ends the connection without reading the body. */
  | { does: "hang up unread" }
  /** Reads the whole request, then ends the connection. */
  | { does: "hang up" }
  /** Reads the whole request, then resets the connection. */
  | { does: "reset" }
  /** Sends half of a response, then closes the connection. */
  | ({ does: "answer half"; chunked?: boolean } & WholeAnswer)
  /** Reads the whole request and never responds. */
  | { does: "hang" };

/** A received request. */
export interface SeenRequest {
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
  readonly seen: SeenRequest[];
  /** Connections opened to it so far. */
  connections(): number;
  close(): Promise<void>;
}

/** A JSON response. */
export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Behaviour => ({
  does: "answer",
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

/** Starts it on a free port. `plan` returns the reaction to a request, or lists reactions in order; the last one repeats. */
export async function startFaultyServer(
  plan: Behaviour[] | ((request: SeenRequest, count: number) => Behaviour),
): Promise<FaultyServer> {
  const seen: SeenRequest[] = [];

  function next(request: SeenRequest): Behaviour {
    if (typeof plan === "function") return plan(request, seen.length);
    return plan[Math.min(seen.length, plan.length) - 1] ?? { does: "answer", status: 500 };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    const one: SeenRequest = { method, url, headers, body: "" };
    seen.push(one);
    // Plans that check bodies require the whole body; only the reaction `hang up unread` does not read it.
    if (Array.isArray(plan) && next(one).does === "hang up unread") return hangUp(request);
    one.body = (await readBody(request)).toString("utf8");
    const behaviour = next(one);
    switch (behaviour.does) {
      case "answer":
        response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body);
        return;
      case "answer half":
        return answerHalf(response, behaviour);
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
  return { origin, seen, connections: () => connections, close: () => shut(server) };
}

import {
  Agent,
  request as ask,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { answerHalf, hangUp, readBody, reset, type WholeAnswer } from "./broken-answers";
import { watchRequest, watchResponse } from "./contract-watch";
import { strippedResponses } from "./dialect";
import { listenOnLoopback, shut } from "./loopback";
import { noteSentSecrets } from "./secret-scan";
import { strippedResponse } from "./stripped-responses";

/** Fault of one request. */
export type Fault =
  /** The connection ends before the request reaches the origin. */
  | { kind: "dropBeforeSend" }
  /** The origin applies it; the connection ends instead of the response. */
  | { kind: "dropAfterAnswer" }
  /** The request reaches the origin `ms` later. */
  | { kind: "delay"; ms: number }
  /** The origin applies it immediately; its response arrives `ms` later. */
  | { kind: "answerLate"; ms: number }
  /** The connection is reset before the request reaches the origin, or with `carriedOut` after its response. */
  | { kind: "reset"; carriedOut?: boolean }
  /** This status instead of the origin's response: without forwarding it, or after it with `carriedOut`. */
  | { kind: "status"; status: 403 | 429 | 500 | 502 | 503 | 504; retryAfter?: string; carriedOut?: boolean }
  /** The origin applies the request; half of its response arrives. */
  | { kind: "halfBody" }
  /**
   * The client was killed: this request, applied or not, and all later ones end without a response until `clear`. The
   * origin receives none of the later ones.
   */
  | { kind: "clientGone"; carriedOut?: boolean };

/** Selects requests; omitted fields match any request. */
export interface Match {
  method?: string;
  /** Against the path without its query. */
  path?: string | RegExp;
  /** Against the body, such as the name of a GraphQL operation. */
  body?: RegExp;
}

/** A received request. */
export interface RecordedRequest {
  /** Time of its arrival, by Date.now(). */
  at: number;
  method: string;
  /** Without its query, which could hold a key. */
  path: string;
  /** Kind of the injected fault, if any. */
  fault: Fault["kind"] | undefined;
  /** True if the origin responded. */
  carriedOut: boolean;
  /** Status that was sent to the client, if any. */
  status: number | undefined;
}

/**
 * A reverse proxy in front of one origin that records requests and injects faults. It checks all REST requests and
 * responses against the contracts (contract-watch.ts).
 */
export interface RecordingProxy {
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  /** All requests in the order of arrival. */
  readonly requests: RecordedRequest[];
  /** Injects a fault into the next `times` matching requests (default 1); the oldest matching fault applies. */
  inject(match: Match, fault: Fault, times?: number): void;
  /** Changes the origin's JSON responses to matching requests until `clear`. */
  alter(match: Match, change: (answer: unknown) => unknown): void;
  /** Number of faults without a matching request so far. */
  pendingFaults(): number;
  /** Returns true if the fault `clientGone` was triggered. */
  clientIsGone(): boolean;
  /** Deletes the record, the remaining faults and the alterations. */
  clear(): void;
  /** Forwards later requests to another origin, as after a restart on another port. */
  pointAt(origin: string): void;
  close(): Promise<void>;
}

interface Planned {
  match: Match;
  fault: Fault;
  left: number;
}

const fits = (match: Match, method: string, path: string, body: string): boolean =>
  (match.method === undefined || match.method === method) &&
  (match.path === undefined || (typeof match.path === "string" ? match.path === path : match.path.test(path))) &&
  (match.body === undefined || match.body.test(body));

/** Returns true if a request with this fault reaches the origin. */
function reachesOrigin(fault: Fault): boolean {
  switch (fault.kind) {
    case "dropBeforeSend":
      return false;
    case "reset":
    case "status":
    case "clientGone":
      return fault.carriedOut === true;
    case "dropAfterAnswer":
    case "delay":
    case "answerLate":
    case "halfBody":
      return true;
  }
}

const unreachable: WholeAnswer = {
  status: 502,
  body: JSON.stringify({ message: "the proxy cannot reach its origin" }),
};

/** Headers that belong to one connection, not to the message. */
const perConnection = new Set(["connection", "keep-alive", "transfer-encoding", "host", "content-length"]);

const passable = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || perConnection.has(name) ? [] : [[name, [value].flat().join(", ")]],
    ),
  );

/**
 * Starts it on a free port in front of `origin`, `http://host:port`. Responses are buffered, not streamed. `now`
 * (ms since the epoch) sets their date, for origins with a simulated clock. `strip` removes the fields that the
 * contracts do not describe, after the check and before `alter`.
 */
export async function startRecordingProxy(
  origin: string,
  now?: () => number,
  strip = strippedResponses,
): Promise<RecordingProxy> {
  const agent = new Agent({ keepAlive: true });
  const requests: RecordedRequest[] = [];
  let planned: Planned[] = [];
  let alterations: { match: Match; change: (answer: unknown) => unknown }[] = [];
  let target = origin;
  let gone = false;

  function takeFault(method: string, path: string, body: string): Fault | undefined {
    const found = planned.find(({ match }) => fits(match, method, path, body));
    if (!found) return undefined;
    found.left -= 1;
    planned = planned.filter(({ left }) => left > 0);
    return found.fault;
  }

  function forward(request: IncomingMessage, body: Buffer): Promise<WholeAnswer> {
    return new Promise((resolve, reject) => {
      const headers = { ...passable(request.headers), "content-length": String(body.length) };
      const upstream = ask(new URL(request.url ?? "/", target), { method: request.method, headers, agent });
      upstream.on("error", reject);
      upstream.on("response", (answer) => {
        readBody(answer).then((text) => {
          const { statusCode = 502, headers: given } = answer;
          resolve({ status: statusCode, headers: passable(given), body: text.toString("utf8") });
        }, reject);
      });
      upstream.end(body);
    });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? "";
    const path = new URL(request.url ?? "/", "http://any").pathname;
    const nothing = { fault: undefined, carriedOut: false, status: undefined };
    const record: RecordedRequest = { at: Date.now(), method, path, ...nothing };
    requests.push(record);
    if (gone) return hangUp(request);
    const body = await readBody(request);
    const text = body.toString("utf8");
    noteSentSecrets(text);
    const sent = { method, path: request.url ?? "/", body: text };
    watchRequest(sent);
    const fault = takeFault(method, path, text);
    record.fault = fault?.kind;
    if (fault?.kind === "clientGone") gone = true;

    if (fault?.kind === "dropBeforeSend") return hangUp(request);
    if (fault?.kind === "delay") await new Promise((resolve) => setTimeout(resolve, fault.ms));
    let answer = unreachable;
    if (fault === undefined || reachesOrigin(fault)) {
      const fromOrigin = await forward(request, body).catch(() => undefined);
      record.carriedOut = fromOrigin !== undefined;
      const altered = alterations.find(({ match }) => fits(match, method, path, text));
      if (fromOrigin) {
        watchResponse(sent, fromOrigin);
        if (strip) fromOrigin.body = strippedResponse(method, sent.path, fromOrigin.status, fromOrigin.body ?? "");
      }
      if (altered && fromOrigin)
        fromOrigin.body = JSON.stringify(altered.change(JSON.parse(fromOrigin.body ?? "null")));
      answer = fromOrigin ?? unreachable;
    }
    if (fault?.kind === "answerLate") await new Promise((resolve) => setTimeout(resolve, fault.ms));
    if (gone || fault?.kind === "dropAfterAnswer") return hangUp(request);
    if (fault?.kind === "reset") return reset(request);
    if (fault?.kind === "halfBody") return answerHalf(response, answer);
    if (fault?.kind === "status") answer = instead(fault.status, fault.retryAfter);
    record.status = answer.status;
    const dated = now ? { ...answer.headers, date: new Date(now()).toUTCString() } : answer.headers;
    response.writeHead(answer.status, dated).end(answer.body);
  }

  const server = createServer((request, response) => void serve(request, response).catch(() => request.destroy()));
  return {
    origin: await listenOnLoopback(server),
    requests,
    alter: (match, change) => void alterations.push({ match, change }),
    inject: (match, fault, times = 1) => void planned.push({ match, fault, left: times }),
    clientIsGone: () => gone,
    pendingFaults: () => planned.reduce((sum, { left }) => sum + left, 0),
    clear() {
      requests.length = 0;
      planned = [];
      alterations = [];
      gone = false;
    },
    pointAt(other) {
      target = other;
    },
    async close() {
      await shut(server);
      agent.destroy();
    },
  };
}

function instead(status: number, retryAfter: string | undefined): WholeAnswer {
  return {
    status,
    headers: { "content-type": "application/json", ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }) },
    body: JSON.stringify({ message: `fault ${status}` }),
  };
}

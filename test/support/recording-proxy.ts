import {
  Agent,
  request as ask,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { hangUp, readBody, reset, type ScriptedResponse, sendHalf } from "./broken-responses";
import { watchRequest, watchResponse } from "./contract-watch";
import { stripsResponses } from "./dialect";
import { closeServer, listenOnLoopback } from "./loopback";
import { registerSentSecrets } from "./secret-scan";
import { stripResponse } from "./stripped-responses";

/** Fault of one request. */
export type Fault =
  /** The connection ends before the request reaches the origin. */
  | { kind: "dropRequest" }
  /** The origin applies it; the connection ends instead of the response. */
  | { kind: "dropResponse" }
  /** The request reaches the origin `ms` later. */
  | { kind: "delayRequest"; ms: number }
  /** The request reaches the origin after the result of `until`, which is called on its arrival. */
  | { kind: "delayRequest"; until: () => unknown }
  /** The origin applies it immediately; its response arrives `ms` later. */
  | { kind: "delayResponse"; ms: number }
  /** The connection is reset before the request reaches the origin, or with `applied` after its response. */
  | { kind: "reset"; applied?: boolean }
  /** This status instead of the origin's response: without forwarding it, or after it with `applied`. */
  | { kind: "status"; status: 403 | 429 | 500 | 502 | 503 | 504; retryAfter?: string; applied?: boolean }
  /** The origin applies the request; half of its response arrives. */
  | { kind: "halfBody" }
  /** A gateway sends the request twice: the client receives the second response, or with `drop` none. */
  | { kind: "repeatRequest"; drop?: boolean }
  /**
   * The client was killed: this request, applied or not, and all later requests end without a response until `clear`. The
   * origin receives no later requests.
   */
  | { kind: "clientGone"; applied?: boolean };

/** Selects requests; omitted fields match any request. */
export interface Match {
  method?: string;
  /** Matches the path without its query. */
  path?: string | RegExp;
  /** Matches the body, such as the name of a GraphQL operation. */
  body?: RegExp;
}

/** A received request. */
export interface RecordedRequest {
  /** Time of its arrival, by Date.now(). */
  at: number;
  method: string;
  /** Path without the query, which may contain a key. */
  path: string;
  /** Kind of the injected fault, if any. */
  fault: Fault["kind"] | undefined;
  /** True if the origin responded. */
  applied: boolean;
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
  alter(match: Match, change: (response: unknown) => unknown): void;
  /** Number of faults without a matching request so far. */
  pendingFaults(): number;
  /** Returns true if the fault `clientGone` was triggered. */
  isClientGone(): boolean;
  /** Deletes the record, the remaining faults and the alterations. */
  clear(): void;
  /** Forwards later requests to another origin, as after a restart on another port. */
  forwardTo(origin: string): void;
  close(): Promise<void>;
}

interface PlannedFault {
  match: Match;
  fault: Fault;
  remaining: number;
}

const matches = (match: Match, method: string, path: string, body: string): boolean =>
  (match.method === undefined || match.method === method) &&
  (match.path === undefined || (typeof match.path === "string" ? match.path === path : match.path.test(path))) &&
  (match.body === undefined || match.body.test(body));

/** Returns true if a request with this fault reaches the origin. */
function reachesOrigin(fault: Fault): boolean {
  switch (fault.kind) {
    case "dropRequest":
      return false;
    case "reset":
    case "status":
    case "clientGone":
      return fault.applied === true;
    case "dropResponse":
    case "delayRequest":
    case "delayResponse":
    case "halfBody":
    case "repeatRequest":
      return true;
  }
}

const unreachableResponse: ScriptedResponse = {
  status: 502,
  body: JSON.stringify({ message: "the proxy cannot reach its origin" }),
};

/** Headers that belong to one connection, not to the message. */
const connectionHeaders = new Set(["connection", "keep-alive", "transfer-encoding", "host", "content-length"]);

const endToEndHeaders = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || connectionHeaders.has(name) ? [] : [[name, [value].flat().join(", ")]],
    ),
  );

/**
 * Starts it on a free port in front of `origin`, `http://host:port`. Responses are buffered, not streamed. `now`
 * (ms since the epoch) sets their date, for origins with a simulated clock. `strip` removes the fields that the
 * contracts do not describe, after the check and before `alter`.
 */
export async function startRecordingProxy(origin: string, now?: () => number): Promise<RecordingProxy> {
  const agent = new Agent({ keepAlive: true });
  const requests: RecordedRequest[] = [];
  let plannedFaults: PlannedFault[] = [];
  let alterations: { match: Match; change: (response: unknown) => unknown }[] = [];
  let target = origin;
  let isClientGone = false;

  function takeFault(method: string, path: string, body: string): Fault | undefined {
    const planned = plannedFaults.find(({ match }) => matches(match, method, path, body));
    if (!planned) return undefined;
    planned.remaining -= 1;
    plannedFaults = plannedFaults.filter(({ remaining }) => remaining > 0);
    return planned.fault;
  }

  function forward(request: IncomingMessage, body: Buffer): Promise<ScriptedResponse> {
    return new Promise((resolve, reject) => {
      const headers = { ...endToEndHeaders(request.headers), "content-length": String(body.length) };
      const upstream = ask(new URL(request.url ?? "/", target), { method: request.method, headers, agent });
      upstream.on("error", reject);
      upstream.on("response", (response) => {
        readBody(response).then((text) => {
          const { statusCode = 502, headers } = response;
          resolve({ status: statusCode, headers: endToEndHeaders(headers), body: text.toString("utf8") });
        }, reject);
      });
      upstream.end(body);
    });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? "";
    const path = new URL(request.url ?? "/", "http://any").pathname;
    const noOutcome = { fault: undefined, applied: false, status: undefined };
    const record: RecordedRequest = { at: Date.now(), method, path, ...noOutcome };
    requests.push(record);
    if (isClientGone) return hangUp(request);
    const body = await readBody(request);
    const text = body.toString("utf8");
    registerSentSecrets(text);
    const sent = { method, path: request.url ?? "/", body: text };
    watchRequest(sent);
    const fault = takeFault(method, path, text);
    record.fault = fault?.kind;
    if (fault?.kind === "clientGone") isClientGone = true;

    if (fault?.kind === "dropRequest") return hangUp(request);
    if (fault?.kind === "delayRequest") await ("until" in fault ? fault.until() : delay(fault.ms));
    let outgoing = unreachableResponse;
    if (fault?.kind === "repeatRequest") await forward(request, body);
    if (fault === undefined || reachesOrigin(fault)) {
      const originResponse = await forward(request, body).catch(() => undefined);
      record.applied = originResponse !== undefined;
      const alteration = alterations.find(({ match }) => matches(match, method, path, text));
      if (originResponse) {
        watchResponse(sent, originResponse);
        if (stripsResponses)
          originResponse.body = stripResponse(method, sent.path, originResponse.status, originResponse.body ?? "");
      }
      if (alteration && originResponse)
        originResponse.body = JSON.stringify(alteration.change(JSON.parse(originResponse.body ?? "null")));
      outgoing = originResponse ?? unreachableResponse;
    }
    if (fault?.kind === "delayResponse") await delay(fault.ms);
    const isDropped = fault?.kind === "dropResponse" || (fault?.kind === "repeatRequest" && fault.drop === true);
    if (isClientGone || isDropped) return hangUp(request);
    if (fault?.kind === "reset") return reset(request);
    if (fault?.kind === "halfBody") return sendHalf(response, outgoing);
    if (fault?.kind === "status") outgoing = statusResponse(fault.status, fault.retryAfter);
    record.status = outgoing.status;
    const headers = now ? { ...outgoing.headers, date: new Date(now()).toUTCString() } : outgoing.headers;
    response.writeHead(outgoing.status, headers).end(outgoing.body);
  }

  const server = createServer((request, response) => void serve(request, response).catch(() => request.destroy()));
  return {
    origin: await listenOnLoopback(server),
    requests,
    alter: (match, change) => void alterations.push({ match, change }),
    inject: (match, fault, times = 1) => void plannedFaults.push({ match, fault, remaining: times }),
    isClientGone: () => isClientGone,
    pendingFaults: () => plannedFaults.reduce((sum, { remaining }) => sum + remaining, 0),
    clear() {
      requests.length = 0;
      plannedFaults = [];
      alterations = [];
      isClientGone = false;
    },
    forwardTo(newOrigin) {
      target = newOrigin;
    },
    async close() {
      await closeServer(server);
      agent.destroy();
    },
  };
}

function statusResponse(status: number, retryAfter: string | undefined): ScriptedResponse {
  return {
    status,
    headers: { "content-type": "application/json", ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }) },
    body: JSON.stringify({ message: `fault ${status}` }),
  };
}

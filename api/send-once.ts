import { StringDecoder } from "node:string_decoder";
import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import type { Proxies } from "./proxies";
import { type ApiResponse, parseJson } from "./response";

/** Settings of the connection pools. */
export interface AgentSettings {
  /** Timeout of one attempt, ms. */
  attemptTimeout: number;
  /** Maximum number of concurrent calls. */
  maxInFlight: number;
  /** Proxies for all addresses except loopback; none by default. */
  proxies?: Proxies | undefined;
}

/** Creates the connection pools, one for direct connections and one for connections through the proxies. */
export function createAgents({ attemptTimeout, maxInFlight, proxies }: AgentSettings) {
  const options = {
    connections: maxInFlight,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    connect: { timeout: attemptTimeout },
  };
  const direct = new Agent(options);
  // Empty strings prevent undici from reading the environment.
  const { http = "", https = "", noProxy = "" } = proxies ?? {};
  const proxied = proxies && new EnvHttpProxyAgent({ ...options, httpProxy: http, httpsProxy: https, noProxy });
  return {
    agentFor: (usesProxies: boolean): Dispatcher => (usesProxies && proxied) || direct,
    close: async (): Promise<void> => {
      await Promise.all([direct.close(), proxied?.close()]);
    },
  };
}

/** A request as it is sent. */
export interface HttpRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: URL;
  headers: Record<string, string>;
  body: string | undefined;
  /** Receives the text of a successful response in parts as it arrives, the first part empty and with the head. */
  onText?: ((part: string) => void) | undefined;
}

/**
 * Sends one request and reads the complete response. `onSent` is called immediately before the bytes are sent; a failure before that cannot
 * have changed anything. Rejects as soon as the signal aborts.
 */
export function sendOnce(
  dispatcher: Dispatcher,
  request: HttpRequest,
  signal: AbortSignal,
  onSent: () => void,
): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const decoder = new StringDecoder("utf8");
    const abandoned = new Error("the request was abandoned");
    let status = 0;
    let headers: ApiResponse["headers"] = {};
    let dispatchController: Dispatcher.DispatchController | undefined;

    const abort = () => {
      reject(signal.reason);
      dispatchController?.abort(abandoned);
    };
    signal.addEventListener("abort", abort);

    dispatcher.dispatch(
      {
        origin: request.url.origin,
        path: request.url.pathname + request.url.search,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        // The caller's signal is the only timeout.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart(controller) {
          if (signal.aborted) return controller.abort(abandoned);
          dispatchController = controller;
          onSent();
        },
        onResponseStart(_controller, statusCode, responseHeaders) {
          status = statusCode;
          headers = responseHeaders;
          if (status === 200) request.onText?.("");
        },
        onResponseData(_controller, chunk) {
          if (status === 200 && request.onText) request.onText(decoder.write(chunk));
          else chunks.push(chunk);
        },
        onResponseEnd() {
          signal.removeEventListener("abort", abort);
          const text = Buffer.concat(chunks)
            .toString("utf8")
            .replace(/^\uFEFF/, "");
          resolve({ status, headers, text, body: parseJson(text) });
        },
        onResponseError(_controller, error) {
          signal.removeEventListener("abort", abort);
          reject(status === 0 ? error : new Error(`the response was truncated: ${error.message}`));
        },
      },
    );
  });
}

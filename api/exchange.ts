import type { Dispatcher } from "undici";
import { type ApiResponse, parseJson } from "./response";

/** An outgoing request. */
export interface Outgoing {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: URL;
  headers: Record<string, string>;
  body: string | undefined;
}

/**
 * Sends one request and reads the complete response. `onSent` is called immediately before the bytes are sent; a failure before that cannot
 * have changed anything. Rejects as soon as the signal aborts.
 */
export function exchange(
  dispatcher: Dispatcher,
  outgoing: Outgoing,
  signal: AbortSignal,
  onSent: () => void,
): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    let headers: ApiResponse["headers"] = {};
    let dispatchController: Dispatcher.DispatchController | undefined;

    const abort = () => {
      reject(signal.reason);
      dispatchController?.abort(new Error("the request was abandoned"));
    };
    signal.addEventListener("abort", abort, { once: true });

    dispatcher.dispatch(
      {
        origin: outgoing.url.origin,
        path: outgoing.url.pathname + outgoing.url.search,
        method: outgoing.method,
        headers: outgoing.headers,
        body: outgoing.body ?? null,
        // The caller's signal is the only timeout.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart(controller) {
          if (signal.aborted) return controller.abort(new Error("the request was abandoned"));
          dispatchController = controller;
          onSent();
        },
        onResponseStart(_controller, statusCode, responseHeaders) {
          status = statusCode;
          headers = responseHeaders;
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk);
        },
        onResponseEnd() {
          signal.removeEventListener("abort", abort);
          const text = Buffer.concat(chunks).toString("utf8");
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

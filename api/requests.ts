import { isLoopback, requestInfo } from "./address";
import { invalidArgument, toJson } from "./errors";
import { exactBodyOf } from "./exact-numbers";
import type { CallOptions } from "./management";
import { headerOf } from "./response";
import { limits } from "./shapes";
import type { Transport, TransportRequest } from "./transport";

/** An HTTP request to the workers of a load balancing endpoint. */
export interface EndpointRequest {
  method: TransportRequest["method"];
  /** Path with query; begins with a slash. */
  path: string;
  /** Sent as JSON. */
  body?: unknown;
}

/** The response of a worker, with any status. */
export interface EndpointResponse {
  status: number;
  /** Parsed JSON body, or any other body as text. A number that JavaScript cannot represent is text with its digits. */
  body: unknown;
  /** Worker that responded, if the service reports it. */
  workerId: string | undefined;
}

/** Sends requests to load balancing endpoints. */
export interface RequestClient {
  /**
   * Sends a request to the `requestUrl` of an endpoint's record and waits for a worker. It is retried only if it reached no worker. Rejects
   * with an ApiError if there is no response, no worker in time, if an argument is invalid, or if `requestUrl` would expose the key.
   */
  send(requestUrl: string, request: EndpointRequest, options?: CallOptions): Promise<EndpointResponse>;
}

/** Maximum time to a response, ms: the wait for a worker and the worker's time limit. */
const serverWait = limits.loadBalancerWait + limits.loadBalancerProcessing;

/** `baseUrl` is the root of the REST API, whose host may receive the key. */
export function createRequestClient(transport: Transport, baseUrl: string): RequestClient {
  return {
    async send(requestUrl, { method, path, body }, options) {
      if (!URL.canParse(requestUrl))
        throw invalidArgument(`the endpoint's address ${JSON.stringify(requestUrl)} is not a URL`, {
          method,
          url: requestUrl,
        });
      // Without the slash, a path such as `@evil.example` would change the host that receives the key.
      if (!path.startsWith("/"))
        throw invalidArgument(
          `the path is ${JSON.stringify(path)}; must begin with a slash`,
          requestInfo({ method, url: requestUrl }),
        );
      const url = requestUrl + path;
      const info = requestInfo({ method, url });
      const { protocol, host, hostname } = new URL(url);
      if (protocol !== "https:" && !isLoopback(url) && hostname !== new URL(baseUrl).hostname)
        throw invalidArgument(
          `the endpoint's address ${protocol}//${host} is not encrypted; the API key is not sent to it`,
          info,
        );
      const serializedBody = body === undefined ? {} : { body: toJson(body, "the body", info) };
      const request = {
        method,
        url,
        ...serializedBody,
        idempotent: false,
        rateLimitScope: requestUrl,
        serverWait,
        anyStatus: true,
      };
      const response = await transport.send(request, options);
      const workerId = headerOf(response, "x-worker-id");
      return {
        status: response.status,
        body: response.body === undefined ? response.text : exactBodyOf(response),
        workerId,
      };
    },
  };
}

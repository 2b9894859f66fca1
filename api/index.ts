import { parseAddress, restVersionIn } from "./address";
import { type Clock, systemClock } from "./clock";
import { createRestV1Management } from "./dialects/rest-v1";
import { createRestV2Management } from "./dialects/rest-v2";
import { createJobClient, type JobClient } from "./jobs";
import type { ManagementClient } from "./management";
import { type Proxies, parseProxies } from "./proxies";
import { createRequestClient, type RequestClient } from "./requests";
import type { Dialect } from "./shapes";
import { clientDefaults } from "./shapes";
import { createTransport, type Transport } from "./transport";

export { parseAddress } from "./address";
export * from "./clock";
export * from "./connection-faults";
export * from "./errors";
export { JobFailed, type JobStreamOptions, type JobWaitOptions, readDespiteOutage } from "./job-waits";
export * from "./jobs";
export * from "./management";
export * from "./proxies";
export type { EndpointRequest, EndpointResponse, RequestClient } from "./requests";
export type { UnreadableElement } from "./response";
export * from "./shapes";
export type { Transport, TransportRequest } from "./transport";
export { followWorkerLog, type WorkerLogLine, type WorkerLogOptions } from "./worker-logs";

/** Address of the service and settings of its clients. */
export interface ClientSettings {
  /** API key, sent only in headers and never part of an error. */
  apiKey: string;
  /** Root of the REST management API, including the version prefix, for example `http://127.0.0.1:7337/v2`. */
  baseUrl: string;
  /** Version of the REST API at `baseUrl`. Default: `v1` if `baseUrl` ends in `/v1`, else `v2`. */
  dialect?: Dialect | undefined;
  /** Address of the GraphQL API; not used in dialect v2. */
  graphqlUrl: string;
  /** Host address of the job API, with or without `/v2`; an endpoint's root is `{serverlessUrl}/v2/{endpointId}`. */
  serverlessUrl: string;
  /** Milliseconds for one attempt of a call. Default 30000. */
  attemptTimeout?: number | undefined;
  /** Milliseconds for each request of a call with all its attempts. Default 120000. */
  callTimeout?: number | undefined;
  /** Maximum number of concurrent calls. Default 16. */
  maxInFlight?: number | undefined;
  /** Proxies for all addresses except loopback. Default: none. */
  proxies?: Proxies | undefined;
  /** Default: the machine's clock. */
  clock?: Clock | undefined;
  /** A number from 0 up to 1, for the jitter of retries. Default: `Math.random`. */
  random?: (() => number) | undefined;
}

/** The service's clients over one transport. */
export interface Clients {
  /** Dialect of `management`. */
  dialect: Dialect;
  /** Root of the REST management API without a trailing slash. */
  baseUrl: string;
  management: ManagementClient;
  jobs: JobClient;
  /** Requests to load balancing endpoints. */
  requests: RequestClient;
  /** The transport of all clients, for other requests. */
  transport: Transport;
  /** Number of requests sent, including retries. */
  requestCount(): number;
  close(): Promise<void>;
}

/** Opens the clients. Throws a TypeError that names the setting if an address, a proxy or the key is invalid. */
export function createClients(settings: ClientSettings): Clients {
  const apiKey = headerSafeKey(settings.apiKey);
  const baseUrl = parseAddress("baseUrl", settings.baseUrl, apiKey);
  const serverlessUrl = parseAddress("serverlessUrl", settings.serverlessUrl, apiKey);
  const graphqlUrl = parseAddress("graphqlUrl", settings.graphqlUrl, apiKey);
  const clock = settings.clock ?? systemClock;
  const transport = createTransport({
    apiKey,
    attemptTimeout: requirePositive(settings, "attemptTimeout"),
    callTimeout: requirePositive(settings, "callTimeout"),
    maxInFlight: Math.floor(requirePositive(settings, "maxInFlight")),
    proxies: settings.proxies && parseProxies(settings.proxies),
    clock,
    random: settings.random ?? Math.random,
  });
  const dialect = settings.dialect ?? restVersionIn(baseUrl) ?? "v2";
  // A script in JavaScript may pass another value.
  if (dialect !== "v1" && dialect !== "v2") throw new TypeError(`dialect is "${dialect}"; must be "v1" or "v2"`);
  return {
    dialect,
    baseUrl,
    management:
      dialect === "v2"
        ? createRestV2Management(transport, { baseUrl })
        : createRestV1Management(transport, { baseUrl, graphqlUrl }),
    jobs: createJobClient(transport, { apiKey, serverlessUrl, clock }),
    requests: createRequestClient(transport, baseUrl),
    transport,
    requestCount: transport.requestCount,
    close: transport.close,
  };
}

function headerSafeKey(apiKey: string): string {
  // A script in JavaScript may pass no key.
  if (typeof apiKey === "string" && /^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  const problem = !apiKey ? "empty" : "not a single word of ASCII characters (check for spaces and line breaks)";
  throw new TypeError(`apiKey is ${problem}`);
}

function requirePositive(settings: ClientSettings, name: keyof typeof clientDefaults): number {
  const value = settings[name] ?? clientDefaults[name];
  if (typeof value === "number" && value >= 1) return value;
  throw new TypeError(`${name} is ${value}; must be a number of at least 1`);
}

import { type ClientSettings, type Clock, createClients, type Dialect } from "serverless-compute-api";
import type { ServiceOptions } from "serverless-compute-local";
import { afterAll, afterEach } from "vitest";
import type { Properties } from "../../provider/engine/values";
import type { Context } from "../../provider/framework/contract";
import { ResourceInitError } from "../../provider/framework/errors";
import { dialect, restPaths } from "./dialect";
import { serviceDefaults, useSharedService } from "./local-service";
import { OffsetClock } from "./offset-clock";
import { quietContext } from "./quiet-context";
import { at, expectResponse, type RawResponse, stringAt } from "./raw-http";
import { type RecordedRequest, type RecordingProxy, startRecordingProxy } from "./recording-proxy";
import { expectNoSecretIn, registerSecret } from "./secret-scan";

/** A local service behind a recording proxy, for lifecycles under test; its data is read by raw HTTP. */
export interface LifecycleBench {
  /** Proxy between the lifecycles and the service. */
  proxy: RecordingProxy;
  /** Another proxy to the service, with its own record and faults. */
  startProxy(): Promise<RecordingProxy>;
  /** The service's time. */
  clock: OffsetClock;
  /** Folder of the service's database and logs. */
  dataFolder: string;
  /** Addresses of the proxy for a client. */
  addresses: Pick<ClientSettings, "apiKey" | "baseUrl" | "dialect" | "graphqlUrl" | "serverlessUrl">;
  /** A verb's context with its own clients; its waits advance the service's clock instead of elapsing. */
  context(overrides?: Partial<Context>, clientDialect?: Dialect): BenchContext;
  /** Sends a REST request directly to the service. */
  rest(method: string, path: string, json?: unknown): Promise<RawResponse>;
  /** Creates an object by REST v1, directly in the service. Returns its id. */
  create(path: string, json: object): Promise<string>;
  /** Sends a GraphQL request directly to the service. Returns `data`. */
  graphql(query: string, variables?: object): Promise<unknown>;
  /** Objects of the service: secrets by GraphQL, all others by REST. */
  listObjects(kind: CollectionName): Promise<unknown[]>;
  /** Requests through the proxy since the last call, as `METHOD path`. */
  drainRequests(): string[];
}

/** Lists of the service's objects. */
export type CollectionName = "endpoints" | "networkvolumes" | "templates" | "secrets" | "containerregistryauth";

export interface BenchContext extends Context {
  /** Reported progress. */
  progressMessages: string[];
  /** Warnings. */
  warnings: string[];
}

/** A clock on which every wait elapses immediately and advances the service's clock. */
const autoAdvancingClock = (clock: OffsetClock): Clock => ({
  now: () => clock.now(),
  sleep: async (ms, signal) => {
    signal?.throwIfAborted();
    // Clocks return whole milliseconds.
    await clock.advance(Math.ceil(ms));
    signal?.throwIfAborted();
  },
});

/** Starts the bench for a test file; after the last test, it stops and its files are deleted. */
export async function useLifecycleBench(options: ServiceOptions = {}): Promise<LifecycleBench> {
  const clock = new OffsetClock();
  // The long forms send more requests than the limit of an hour allows.
  const local = await useSharedService({ ...serviceDefaults, clock, rateLimits: "off", ...options });
  const { service, dataFolder, rest } = local;
  const proxy = await startRecordingProxy(service.serverlessUrl, () => clock.now());
  registerSecret(service.apiKey, "the API key");
  const cleanups: (() => Promise<void>)[] = [];
  const proxies = [proxy];
  const messages: string[] = [];
  afterEach(async () => {
    for (const close of cleanups.splice(0)) await close();
    proxy.clear();
  });
  afterAll(async () => {
    for (const proxy of proxies) await proxy.close();
    expectNoSecretIn([["output of verbs", messages.join("\n")]]);
  });

  const throughProxy = (url: string): string => url.replace(service.serverlessUrl, proxy.origin);
  const addresses = {
    apiKey: service.apiKey,
    dialect,
    baseUrl: `${proxy.origin}${restPaths.root}`,
    graphqlUrl: throughProxy(service.graphqlUrl),
    serverlessUrl: throughProxy(service.serverlessUrl),
  };
  const graphql = async (query: string, variables: object = {}): Promise<unknown> => {
    const response = await local.graphql(query, variables);
    expectResponse(response, 200);
    if (at(response.json, "errors") !== undefined) throw new Error(response.text);
    return at(response.json, "data");
  };

  return {
    proxy,
    async startProxy() {
      const extraProxy = await startRecordingProxy(service.serverlessUrl, () => clock.now());
      proxies.push(extraProxy);
      return extraProxy;
    },
    clock,
    dataFolder,
    addresses,
    context(overrides = {}, clientDialect = dialect) {
      const clientClock = overrides.clock ?? autoAdvancingClock(clock);
      const clients = createClients({
        ...addresses,
        dialect: clientDialect,
        baseUrl: `${proxy.origin}/${clientDialect}`,
        // REST v2 requires no GraphQL, so no server listens at this address.
        ...(clientDialect === "v2" ? { graphqlUrl: "http://127.0.0.1:1/graphql" } : {}),
        clock: clientClock,
        random: () => 0.5,
      });
      cleanups.push(() => clients.close());
      const progressMessages: string[] = [];
      const warnings: string[] = [];
      return {
        ...quietContext({ clients, clock: clientClock }),
        progress: (text) => {
          progressMessages.push(text);
          messages.push(text);
        },
        warn: (text) => {
          warnings.push(text);
          messages.push(text);
        },
        progressMessages,
        warnings,
        ...overrides,
      };
    },
    rest,
    create: async (path, json) => stringAt(await rest("POST", path, json), "id"),
    graphql,
    async listObjects(kind) {
      // Read with REST v2, because REST v1 does not return the type.
      if (kind === "networkvolumes") {
        const list = await local.v2("GET", "/network-volumes");
        return listIn(at(list.json, "networkVolumes"));
      }
      if (kind !== "secrets") return listIn((await rest("GET", `/${kind}`)).json);
      return listIn(at(await graphql("{ myself { secrets { id name description } } }"), "myself", "secrets"));
    },
    drainRequests: () => proxy.requests.splice(0).map(({ method, path }: RecordedRequest) => `${method} ${path}`),
  };
}

function listIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`no list: ${JSON.stringify(value)}`);
}

/** Returns an object in a property of a response; throws if it is missing. */
export function propertiesIn(value: unknown): Properties {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`no object: ${value}`);
  return Object.fromEntries(Object.entries(value));
}

/** Returns the failure of a verb that leaves an object in state; throws any other error. */
export async function partialFailureOf(verb: Promise<unknown>): Promise<ResourceInitError> {
  const failure: unknown = await verb.catch((error: unknown) => error);
  if (failure instanceof ResourceInitError) return failure;
  throw failure;
}

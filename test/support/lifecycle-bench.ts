import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ClientSettings, type Clock, createClients, type Dialect } from "serverless-compute-api";
import { createService, type ServiceOptions } from "serverless-compute-local";
import { afterAll, afterEach } from "vitest";
import type { Context, Properties } from "../../provider/lifecycle/contract";
import { dialect, restPaths } from "./dialect";
import { LeapingClock } from "./leaping-clock";
import { type Answer, at, expectAnswer, send } from "./raw-http";
import { type RecordedRequest, type RecordingProxy, startRecordingProxy } from "./recording-proxy";
import { expectNoSecretIn, noteSecret } from "./secret-scan";
import { discardServiceFolder } from "./service-artefacts";

/** A local service behind a recording proxy, for lifecycles under test; its data is read by raw HTTP. */
export interface LifecycleBench {
  /** Proxy between the lifecycles and the service. */
  proxy: RecordingProxy;
  /** Another proxy to the service, with its own record and faults. */
  startProxy(): Promise<RecordingProxy>;
  /** The service's time. */
  clock: LeapingClock;
  /** Folder of the service's database and logs. */
  dataFolder: string;
  /** Addresses of the proxy for a client. */
  addresses: Pick<ClientSettings, "apiKey" | "baseUrl" | "dialect" | "graphqlUrl" | "serverlessUrl">;
  /** A verb's context with its own clients; its waits advance the service's clock instead of elapsing. */
  context(overrides?: Partial<Context>, spoken?: Dialect): BenchContext;
  /** Sends a REST request directly to the service. */
  rest(method: string, path: string, json?: unknown): Promise<Answer>;
  /** Sends a GraphQL request directly to the service. Returns `data`. */
  graphql(query: string, variables?: object): Promise<unknown>;
  /** Objects of the service: secrets by GraphQL, all others by REST. */
  held(kind: HeldKind): Promise<unknown[]>;
  /** Requests through the proxy since the last call, as `METHOD path`. */
  asked(): string[];
}

/** Lists of the service's objects. */
export type HeldKind = "endpoints" | "networkvolumes" | "templates" | "secrets" | "containerregistryauth";

export interface BenchContext extends Context {
  /** Reported progress. */
  shown: string[];
  /** Warnings. */
  warned: string[];
}

/** A clock on which every wait elapses immediately and advances the service's clock. */
export const hasty = (clock: LeapingClock): Clock => ({
  now: () => clock.now(),
  sleep: async (ms, signal) => {
    signal?.throwIfAborted();
    // Clocks return whole milliseconds.
    await clock.leap(Math.ceil(ms));
    signal?.throwIfAborted();
  },
});

/** Path of a handler of the conformance tests. */
export const handlerFile = (name: string): string =>
  fileURLToPath(new URL(`../conformance/handlers/${name}.mjs`, import.meta.url));

/** Starts it for one test file; after the last test, it stops and its files are deleted. */
export async function useLifecycleBench(options: ServiceOptions = {}): Promise<LifecycleBench> {
  const dataFolder = await mkdtemp(join(tmpdir(), "lifecycle-"));
  const clock = new LeapingClock();
  const service = await createService({ port: 0, dataFolder, clock, logLevel: "info", ...options });
  const proxy = await startRecordingProxy(service.serverlessUrl, () => clock.now());
  noteSecret(service.apiKey, "the API key");
  const closing: (() => Promise<void>)[] = [];
  const proxies = [proxy];
  const told: string[] = [];
  afterEach(async ({ task }) => {
    for (const close of closing.splice(0)) await close();
    proxy.clear();
    if (task.result?.state === "fail")
      console.error((await readFile(join(dataFolder, "service.log"), "utf8")).slice(-4000));
  });
  afterAll(async () => {
    for (const one of proxies) await one.close();
    await service.stop(0);
    expectNoSecretIn([["what verbs told", told.join("\n")]]);
    await discardServiceFolder(dataFolder);
  });

  const moved = (url: string): string => url.replace(service.serverlessUrl, proxy.origin);
  const addresses = {
    apiKey: service.apiKey,
    dialect,
    baseUrl: `${proxy.origin}${restPaths.root}`,
    graphqlUrl: moved(service.graphqlUrl),
    serverlessUrl: moved(service.serverlessUrl),
  };
  const rest = (method: string, path: string, json?: unknown): Promise<Answer> =>
    send(method, `${service.baseUrl}${path}`, { key: service.apiKey, ...(json === undefined ? {} : { json }) });
  const graphql = async (query: string, variables: object = {}): Promise<unknown> => {
    const answer = await send("POST", service.graphqlUrl, { key: service.apiKey, json: { query, variables } });
    expectAnswer(answer, 200);
    if (at(answer.json, "errors") !== undefined) throw new Error(answer.text);
    return at(answer.json, "data");
  };

  return {
    proxy,
    async startProxy() {
      const another = await startRecordingProxy(service.serverlessUrl, () => clock.now());
      proxies.push(another);
      return another;
    },
    clock,
    dataFolder,
    addresses,
    context(overrides = {}, spoken = dialect) {
      const time = overrides.clock ?? hasty(clock);
      const clients = createClients({
        ...addresses,
        dialect: spoken,
        baseUrl: `${proxy.origin}/${spoken}`,
        // REST v2 needs no GraphQL: no server listens there.
        ...(spoken === "v2" ? { graphqlUrl: "http://127.0.0.1:1/graphql" } : {}),
        clock: time,
        random: () => 0.5,
      });
      closing.push(() => clients.close());
      const shown: string[] = [];
      const warned: string[] = [];
      return {
        clients,
        clock: time,
        signal: new AbortController().signal,
        progress: (text) => {
          shown.push(text);
          told.push(text);
        },
        warn: (text) => {
          warned.push(text);
          told.push(text);
        },
        claimedIds: new Map(),
        settings: { templateReleaseLimit: 150_000 },
        shown,
        warned,
        ...overrides,
      };
    },
    rest,
    graphql,
    async held(kind) {
      // Read by REST v2, because REST v1 does not contain the type.
      if (kind === "networkvolumes") {
        const list = await send("GET", `${service.serverlessUrl}/v2/network-volumes`, { key: service.apiKey });
        return listIn(at(list.json, "networkVolumes"));
      }
      if (kind !== "secrets") return listIn((await rest("GET", `/${kind}`)).json);
      return listIn(at(await graphql("{ myself { secrets { id name description } } }"), "myself", "secrets"));
    },
    asked: () => proxy.requests.splice(0).map(({ method, path }: RecordedRequest) => `${method} ${path}`),
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

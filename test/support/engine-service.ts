import type { Service, ServiceOptions } from "serverless-compute-local";
import { afterAll, afterEach } from "vitest";
import { z } from "zod";
import { crowdedCounts, fillAccount, isCrowded, otherPrefix } from "./crowded-account";
import { restPaths } from "./dialect";
import { serviceDefaults, startLocalService } from "./local-service";
import type { RawResponse } from "./raw-http";
import { type RecordingProxy, startRecordingProxy } from "./recording-proxy";
import { registerSecret } from "./secret-scan";
import { logTails } from "./service-artefacts";
import { handlerFile } from "./target";

const handlers = ["echo", "fail", "slow", "env"] as const;
/** Image name that runs a handler of test/conformance/handlers. */
export const image = (handler: (typeof handlers)[number]): string => `acme/${handler}:1`;

const namedShape = z.looseObject({ id: z.string(), name: z.string() });
const accountShape = z.looseObject({
  data: z.looseObject({ myself: z.looseObject({ secrets: z.array(namedShape), podTemplates: z.array(namedShape) }) }),
});
type NamedObject = z.output<typeof namedShape>;

/** Objects of the service except those of `fillAccount`, read by raw HTTP. */
interface AccountObjects {
  endpoints: NamedObject[];
  volumes: NamedObject[];
  templates: NamedObject[];
  secrets: NamedObject[];
}

/** A local service with workers, behind a recording proxy. */
export interface EngineService {
  service: Service;
  proxy: RecordingProxy;
  /** Folder of its database and logs. */
  dataFolder: string;
  /** The provider's settings: through the proxy. */
  environment: Record<string, string>;
  /** Requests through the proxy to the retiring APIs, REST v1 and GraphQL. In dialect v2 there must be none. */
  retiredRequests(): string[];
  /** Reads its objects; the proxy does not record these requests. */
  listObjects(): Promise<AccountObjects>;
  /** Deletes the objects with these ids without the provider; endpoints first, because they use volumes. */
  remove(ids: ReadonlySet<string>): Promise<void>;
  /** Sends a REST request directly to the service. Returns the parsed body, undefined without one. */
  rest(method: string, path: string, body?: object): Promise<unknown>;
  /** Sends a GraphQL request directly to the service. */
  graphql(query: string): Promise<unknown>;
  /** Sends a request to an endpoint's job API directly to the service. */
  job(method: string, endpointId: string, path: string, body?: object): Promise<unknown>;
}

/** Services of this test file. Vitest accepts hooks only while a file is loaded, so the hooks are outside the function. */
const running: { dataFolder: string; stop(): Promise<void> }[] = [];
afterEach(async ({ task }) => {
  if (task.result?.state !== "fail") return;
  for (const { dataFolder } of running) console.error(await logTails(dataFolder));
});
afterAll(async () => {
  await Promise.all(running.map(({ stop }) => stop()));
});

/**
 * Starts a service for a test file. It stops after the last test, and its data folder is deleted.
 * A failing test prints the service's logs.
 */
export async function useEngineService(options: ServiceOptions = {}): Promise<EngineService> {
  const images = Object.fromEntries(handlers.map((name) => [image(name), handlerFile(name)]));
  const local = await startLocalService({ ...serviceDefaults, templateRelease: 0, images, ...options });
  const { service, dataFolder } = local;
  registerSecret(service.apiKey, "the API key");
  const proxy = await startRecordingProxy(service.serverlessUrl);
  running.push({
    dataFolder,
    stop: async () => {
      await proxy.close();
      await local.close();
    },
  });

  const bodyOf = async (sent: Promise<RawResponse>): Promise<unknown> => {
    const { request, status, text, json } = await sent;
    if (status >= 300) throw new Error(`${request} returned ${status}: ${text}`);
    return json;
  };
  const graphql: EngineService["graphql"] = (query) => bodyOf(local.graphql(query));
  const rest: EngineService["rest"] = (method, path, body) => bodyOf(local.rest(method, path, body));

  const listObjects = async (): Promise<AccountObjects> => {
    const query = "{ myself { secrets { id name description } podTemplates { id name } } }";
    const { myself } = accountShape.parse(await graphql(query)).data;
    const withoutOthers = (list: NamedObject[]): NamedObject[] =>
      list.filter(({ name }) => !name.startsWith(otherPrefix));
    return {
      endpoints: withoutOthers(z.array(namedShape).parse(await rest("GET", "/endpoints"))),
      volumes: withoutOthers(z.array(namedShape).parse(await rest("GET", "/networkvolumes"))),
      templates: withoutOthers(z.array(namedShape).parse(await rest("GET", "/templates"))),
      secrets: withoutOthers(myself.secrets),
    };
  };

  const remove = async (ids: ReadonlySet<string>): Promise<void> => {
    const { endpoints, templates, volumes, secrets } = await listObjects();
    for (const [path, objects] of Object.entries({ endpoints, templates, networkvolumes: volumes }))
      for (const { id } of objects) if (ids.has(id)) await rest("DELETE", `/${path}/${id}`);
    for (const { id } of secrets) if (ids.has(id)) await graphql(`mutation { secretDelete(id: "${id}") }`);
  };

  const retiredRequests = (): string[] =>
    proxy.requests
      .filter(({ path }) => /^\/(v1|graphql)(\/|$)/.test(path))
      .map(({ method, path }) => `${method} ${path}`);

  return {
    service,
    proxy,
    retiredRequests,
    dataFolder,
    environment: {
      SERVERLESS_COMPUTE_API_KEY: service.apiKey,
      SERVERLESS_COMPUTE_BASE_URL: `${proxy.origin}${restPaths.root}`,
      SERVERLESS_COMPUTE_GRAPHQL_URL: service.graphqlUrl.replace(service.serverlessUrl, proxy.origin),
      SERVERLESS_COMPUTE_SERVERLESS_URL: proxy.origin,
    },
    listObjects,
    remove,
    rest,
    graphql,
    job: (method, endpointId, path, body) => bodyOf(local.jobs(endpointId).call(method, path, body)),
  };
}

/** Like `useEngineService`; in full runs with 1,200 other objects in the account and one object per page of a list. */
export async function useCrowdedService(options: ServiceOptions = {}): Promise<EngineService> {
  if (!isCrowded) return useEngineService(options);
  // Pages of one object require more requests than the limits allow.
  const service = await useEngineService({ ...options, pageSize: 1, rateLimits: "off" });
  await fillAccount(service, crowdedCounts);
  return service;
}

import { maxHeaderSize } from "node:http";
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { type RetirableApi, ServiceError, serviceStopping } from "../errors";
import { createHostCheck, type Listening } from "../listening";
import type { Resources } from "../resources";
import type { Auth } from "./auth";
import { watchConnections } from "./connections";
import type { EndpointRoutes } from "./endpoint-routes";
import { type LocalOperations, registerLocalRoutes } from "./local";
import type { V1Options } from "./management/controllers";
import { registerRestV1Routes } from "./management/rest-v1";
import { registerRestV2Routes } from "./management/rest-v2";
import { type MetricsSources, registerMetricsRoute } from "./metrics";
import { discardBody, parseJsonBodies, rejectOtherBodies } from "./request-body";
import { originForm } from "./request-target";
import { createMalformedRequestHandler, rejectUnknownRoute, roots, sendRequestError } from "./responses";
import type { UserRateLimit } from "./user-rate-limit";

/** Keep-alive timeout of connections, ms; longer than the pauses of most clients. */
const keepAliveTimeout = 72_000;

/**
 * Maximum number of connections waiting to be accepted. The rate limits allow up to 400 concurrent requests per endpoint and operation. With
 * Node's default of 511, the system drops connections under load, and clients see late or reset connections instead of a 429.
 */
const backlog = 4096;

/** Replaces fastify's schema compilers, which load 100 files at start; routes have no schemas. */
const noSchemas = (): never => {
  throw new Error("routes must not have schemas");
};

/** The HTTP side of the service. */
export function createServer(deps: {
  auth: Auth;
  resources: Resources;
  rest: V1Options;
  restV2: Omit<Parameters<typeof registerRestV2Routes>[1], "admissionFault" | "resources"> & {
    /** Undefined without a rate limit. */
    rateLimit: UserRateLimit | undefined;
  };
  /** Routes of endpoints, which check keys themselves. */
  endpointRoutes: EndpointRoutes;
  /** Routes of the console, which authenticate requests themselves; undefined without a console. */
  console?: { routes(app: FastifyInstance): void } | undefined;
  local: LocalOperations;
  /** Returns the reason why the store cannot be written; undefined if it can. */
  problem(): string | undefined;
  metrics: MetricsSources;
  /** Address for users. */
  listening: Listening;
  /** APIs that respond with 410 to every request. */
  retire: readonly RetirableApi[];
  log: Logger;
  /** Maximum time to receive the head and body of a request, ms; then the response is 408. */
  requestLimit: number;
}) {
  const { auth, resources, rest, restV2, endpointRoutes, listening, retire, log, requestLimit } = deps;
  let isReady = false;
  let isStopping = false;
  const handleError = (error: FastifyError | ServiceError, request: FastifyRequest, reply: FastifyReply): void =>
    sendRequestError(error, request, reply, (fault) =>
      log.error({ err: fault, route: request.routeOptions.url }, "request failed"),
    );
  function newServer() {
    const instance = fastify({
      // Fastify's logging creates a logger per request; errors and responses are logged below.
      logger: false,
      forceCloseConnections: true,
      keepAliveTimeout,
      // Otherwise, a stalled body would count as a concurrent request forever. Node applies the longer of the two timeouts.
      requestTimeout: requestLimit,
      http: {
        headersTimeout: Math.min(60_000, requestLimit),
        connectionsCheckingInterval: Math.min(1000, requestLimit),
      },
      clientErrorHandler: (error, socket) => rejectMalformedRequest(error, socket),
      // Errors before routing.
      frameworkErrors: handleError,
      schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
      // A HEAD request would run the GET handler, which may assign a job or read a stream.
      exposeHeadRoutes: false,
      // An id may be as long as the head of a request.
      routerOptions: { maxParamLength: maxHeaderSize },
      rewriteUrl: originForm,
    });
    rejectOtherBodies(instance);
    const openResponses = watchConnections(instance.server);
    const rejectMalformedRequest = createMalformedRequestHandler(openResponses);
    return { instance, openResponses };
  }
  const { instance: app, openResponses } = newServer();
  async function listen(server: FastifyInstance, requestedPort: number, host: string): Promise<number> {
    await server.listen({ port: requestedPort, host, backlog });
    const [address] = server.addresses();
    return typeof address === "object" ? address.port : requestedPort;
  }

  const checkHost = createHostCheck(listening);
  /** The error for a user's request while the service is stopping. Workers' calls are accepted until the last worker has ended. */
  const stoppingFault = (): ServiceError | undefined => (isStopping ? serviceStopping() : undefined);
  const registerForUsers = (prefix: string, register: (scope: FastifyInstance) => void): void =>
    void app.register(
      async (scope) => {
        scope.addHook("onRequest", (_request, _reply, done) => done(stoppingFault()));
        register(scope);
      },
      { prefix },
    );

  const admissionFault = (
    request: FastifyRequest,
    reply: FastifyReply,
    allowsBareKey = false,
  ): ServiceError | undefined => auth.restV2Fault(request, allowsBareKey) ?? restV2.rateLimit?.admit(reply);

  // Hooks of a request, in order.
  app.addHook("onRequest", (request, _reply, done) => done(checkHost(request.headers.host)));
  // Unknown paths are rejected before the body is read, because its errors do not matter.
  app.addHook("onRequest", (request, reply, done) => {
    if (!request.is404) return done();
    const fault = stoppingFault();
    if (fault) return done(fault);
    const isEndpoint = (id: string): boolean => resources.endpoints.find(id) !== undefined;
    rejectUnknownRoute(request, reply, { isEndpoint, admissionFault });
  });
  parseJsonBodies(app, "invalid");
  registerForUsers(roots.rest, (scope) => {
    if (retire.includes("v1")) return rejectRetired(scope, "REST v1", ["/", "/*"]);
    scope.addHook("onRequest", async (request) => auth.checkRest(request));
    registerRestV1Routes(scope, resources, rest);
  });
  registerForUsers(roots.jobs, (scope) => registerRestV2Routes(scope, { ...restV2, admissionFault, resources }));
  registerForUsers("", (scope) => endpointRoutes.loadBalancers(scope, openResponses));
  registerForUsers("", (scope) => {
    if (retire.includes("graphql")) return rejectRetired(scope, "GraphQL", [roots.graphql]);
    scope.addHook("onRequest", async (request) => {
      if (auth.hasGraphqlKey(request)) auth.checkGraphql(request);
    });
    // Loaded at the first request, because graphql-js takes the most time and memory at start.
    scope.post(roots.graphql, async (request, reply) => {
      const { executeGraphql } = await import("./management/graphql.js");
      const requireKey = auth.hasGraphqlKey(request) ? undefined : () => auth.checkGraphql(request);
      const { deleteNeedsScaleDown } = rest;
      const response = await executeGraphql(request.body, { resources, log, deleteNeedsScaleDown, requireKey });
      return reply.status(response.status).send(response.body);
    });
  });
  registerForUsers(roots.jobs, endpointRoutes.jobs);
  app.register(async (scope) => endpointRoutes.workerChannel(scope), { prefix: roots.jobs });
  registerForUsers("", (scope) => registerLocalRoutes(scope, auth, deps.local));
  // Probes require no key.
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async () => {
    if (isStopping) throw serviceStopping();
    if (!isReady) throw new ServiceError("starting", "the service is starting");
    const problem = deps.problem();
    if (problem !== undefined) throw new ServiceError("storeUnavailable", problem);
    return { status: "ok" };
  });
  registerMetricsRoute(app, auth, deps.metrics);
  registerForUsers("", (scope) => deps.console?.routes(scope));
  setErrorHandler(app);
  function setErrorHandler(server: FastifyInstance): void {
    server.setErrorHandler(async (error: FastifyError | ServiceError, request, reply) => {
      if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE") await discardBody(request.raw);
      handleError(error, request, reply);
      return reply;
    });
  }
  if (log.isLevelEnabled("debug")) logResponses(app, log);

  /** Listeners for workers, by address. */
  const workerServers = new Map<string, { server: FastifyInstance; port: Promise<number> }>();
  function openWorkerServer(address: string, requestedPort: number): Promise<number> {
    const { instance: server } = newServer();
    server.register(async (scope) => endpointRoutes.workerChannel(scope), { prefix: roots.jobs });
    server.setNotFoundHandler((request, reply) => rejectUnknownRoute(request, reply));
    setErrorHandler(server);
    const port = listen(server, requestedPort, address);
    workerServers.set(address, { server, port });
    port.catch(() => workerServers.delete(address));
    return port;
  }

  return {
    /** Listens for users; resolves with the port. */
    listen: (port: number): Promise<number> => listen(app, port, listening.host),
    /** Listens on an additional address of this machine, only for workers' calls; resolves with the port, by default a free one. */
    listenForWorkers: (address: string, port = 0): Promise<number> =>
      workerServers.get(address)?.port ?? openWorkerServer(address, port),
    /** Makes `/readyz` return 200. */
    setReady(): void {
      isReady = true;
    },
    /** Rejects users' requests with 503; workers may still return results. */
    rejectUsers(): void {
      isStopping = true;
    },
    async close(): Promise<void> {
      await Promise.all([...workerServers.values()].map(({ server }) => server.close()));
      await app.close();
    },
  };
}

/** Responds with 410 to all requests of an API, regardless of the key. */
function rejectRetired(scope: FastifyInstance, api: string, paths: string[]): void {
  for (const path of paths) {
    scope.all(path, async () => {
      throw new ServiceError("retired", `${api}: is retired; use REST v2 (${roots.jobs})`);
    });
  }
}

/** Logs responses with their routes instead of URLs, which may contain a key. */
function logResponses(app: FastifyInstance, log: Logger): void {
  app.addHook("onResponse", ({ method, routeOptions }, { statusCode, elapsedTime }, done) => {
    log.debug({ method, route: routeOptions.url, status: statusCode, ms: Math.round(elapsedTime) }, "response sent");
    done();
  });
}

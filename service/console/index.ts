import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { jobStatus } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { EndpointRoute } from "../api/admission";
import type { JobRoute } from "../api/jobs";
import { disconnectSignal, onResponseEnd } from "../client-disconnect";
import { notFound } from "../errors";
import type { Faults } from "../faults/faults";
import { type JobFilter, maxSeq } from "../queue/list";
import type { Resources } from "../resources";
import { eventStreamType } from "../server-sent-events";
import type { SteadyClock } from "../steady-clock";
import { parseInput } from "../validation";
import { createConsoleContent, retryAll } from "./content";
import { createConsoleGuard, securityHeaders } from "./guard";
import type { ConsoleView } from "./overview";
import { readPageFile } from "./page-files";
import { createConsoleSessions } from "./sessions";
import { createStreamLimit } from "./stream-limit";

const rootQuery = z.object({ t: z.string().max(200).optional() });
const filterQuery = z.object({ state: jobStatus.optional(), search: z.string().max(200).optional() });
const eventsQuery = filterQuery.extend({ endpoint: z.string().optional() });
const pageQuery = filterQuery.extend({ before: z.coerce.number().pipe(z.int().min(1)).default(maxSeq) });

/** Ids of jobs; the page sends many of them in several requests. */
const retriesBody = z.strictObject({ ids: z.array(z.string().max(200)).max(1000) });

/** Changed faults by name; null removes one. */
const faultChanges = z.record(z.string(), z.unknown());

const filterOf = ({ state, search }: z.output<typeof filterQuery>): JobFilter => ({ status: state, text: search });

/** The web page of the service: the empty page without authentication, its data and actions for sessions only. */
export function createConsole({
  apiKey,
  checkKey,
  clock,
  resources,
  view,
  faults,
  logFile,
  jobRoutes,
  serverlessUrl,
}: {
  apiKey: string;
  /** Throws a ServiceError unless a request has the API key. */
  checkKey(request: FastifyRequest): void;
  clock: SteadyClock;
  resources: Resources;
  view: ConsoleView;
  faults: Pick<Faults, "read" | "replace">;
  logFile(endpointId: string): string;
  /** Registers the job API for callers that were checked before. */
  jobRoutes(app: FastifyInstance): void;
  serverlessUrl(): string;
}) {
  const sessions = createConsoleSessions(apiKey, clock);
  const content = createConsoleContent({ resources, view, faults, logFile, clock });
  const guard = createConsoleGuard(sessions, serverlessUrl);
  const streams = createStreamLimit();
  /** A link that opens the console once, within an hour. */
  const newLink = (): string => `${serverlessUrl()}/?t=${sessions.newLink()}`;

  function routes(app: FastifyInstance): void {
    app.addHook("onRequest", (request, reply, done) => {
      reply.headers(securityHeaders);
      guard.checkHost(request);
      done();
    });

    const sendFile = async (reply: FastifyReply, name: string): Promise<FastifyReply> => {
      const { type, content: bytes } = await readPageFile(name);
      return reply.type(type).send(bytes);
    };

    app.get("/", async ({ query }, reply) => {
      const { t: token } = parseInput(rootQuery, query);
      if (token === undefined) return sendFile(reply, "index.html");
      const session = sessions.open(token);
      if (session !== undefined) guard.setSession(reply, session);
      // The redirect removes the token from the address and the history. A page without a session explains how to get one.
      return reply.redirect(session === undefined ? "/#/used-link" : "/", 303);
    });
    app.get<{ Params: { name: string } }>("/console/:name", ({ params }, reply) => sendFile(reply, params.name));
    // For `open`, which has the key.
    app.post("/console/links", async (request) => {
      checkKey(request);
      return { url: newLink() };
    });

    // For the page without a session. Another site cannot send the header without a preflight.
    app.post("/console/session", async (request, reply) => {
      checkKey(request);
      guard.setSession(reply, sessions.start());
      return { open: true };
    });

    app.register(async (scope) => {
      scope.addHook("onRequest", (request, _reply, done) => {
        guard.checkPage(request);
        done();
      });
      scope.get("/console/api/session", async () => ({ open: true }));
      scope.get("/console/api/events", async (request, reply) => {
        const { endpoint, ...filter } = parseInput(eventsQuery, request.query);
        if (endpoint !== undefined && !resources.endpoints.find(endpoint)) throw notFound("endpoint", endpoint);
        const endCount = streams.add(guard.sessionOf(request));
        onResponseEnd(reply, async () => endCount());
        const events = content.events(endpoint, filterOf(filter), disconnectSignal(reply));
        return reply.type(eventStreamType).send(Readable.from(events));
      });
      scope.get<EndpointRoute>("/console/api/endpoints/:endpointId/jobs", async ({ params, query }) => {
        const { before, ...filter } = parseInput(pageQuery, query);
        return content.page(params.endpointId, filterOf(filter), before);
      });
      scope.get<EndpointRoute>("/console/api/endpoints/:endpointId/jobs/retryable", async ({ params, query }) => {
        const filter = filterOf(parseInput(filterQuery, query));
        return { ids: await view.retryable(params.endpointId, filter) };
      });
      scope.post<EndpointRoute>("/console/api/endpoints/:endpointId/retries", async ({ params, body }) => {
        const { ids } = parseInput(retriesBody, body);
        return { failed: await retryAll(view.retry, params.endpointId, ids) };
      });
      scope.get<JobRoute>("/console/api/endpoints/:endpointId/jobs/:jobId/input", async ({ params }, reply) => {
        const input = view.input(params.endpointId, params.jobId);
        if (input === undefined) throw notFound("job", params.jobId);
        return reply.type("application/json").send(input);
      });
      scope.patch<EndpointRoute>("/console/api/endpoints/:endpointId/faults", async ({ params, body }) => {
        // In one turn of the event loop, so that no concurrent decrement of a count is lost.
        const merged = { ...faults.read(params.endpointId), ...parseInput(faultChanges, body) };
        const remaining = Object.entries(merged).filter(([, value]) => value !== null);
        return faults.replace(params.endpointId, Object.fromEntries(remaining));
      });
      scope.register(async (jobs) => jobRoutes(jobs), { prefix: "/console/v2" });
    });
  }

  return { routes, newLink };
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "serverless-compute-api/clock";
import { ServiceError } from "../errors";
import type { Resources } from "../resources";
import { registerPodRoutes } from "./pods";
import { checkBodyTexts } from "./request-body";
import { reservedWords } from "./responses";
import { registerAccountRoutes } from "./rest-v2-account";
import { registerBillingRoutes } from "./rest-v2-billing";
import { registerCatalogRoutes } from "./rest-v2-catalog";
import { registerDelegationRoutes } from "./rest-v2-delegations";
import type { Noun, Nouns } from "./rest-v2-nouns";
import type { Pager } from "./rest-v2-pages";
import { registerWorkerRoutes, type WorkerView } from "./rest-v2-workers";

/** Registers REST v2 under the root of the job API. */
export function registerRestV2Routes(
  app: FastifyInstance,
  {
    admissionFault,
    resources,
    nouns,
    pager,
    view,
    clock,
  }: {
    /** Returns the error of a request without a valid key or above the rate limit; sets the rate limit's headers. */
    admissionFault(request: FastifyRequest, reply: FastifyReply): ServiceError | undefined;
    resources: Resources;
    nouns: Nouns;
    pager: Pager;
    view: WorkerView;
    clock: Clock;
  },
): void {
  const methods = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    for (const routeMethod of [method].flat()) methods.set(url, new Set([...(methods.get(url) ?? []), routeMethod]));
  });
  app.addHook("onRequest", async (request, reply) => {
    const fault = admissionFault(request, reply);
    if (fault) throw fault;
  });
  checkBodyTexts(app, "unprocessable");
  type Id = { Params: { id: string } };
  const operations: [string, Noun][] = Object.entries(nouns);
  for (const [path, { list, get, create, update, remove, bodyLimit }] of operations) {
    const options = bodyLimit === undefined ? {} : { bodyLimit };
    app.get(path, async ({ query }) => list(query));
    app.post(path, options, async ({ body }, reply: FastifyReply) => reply.status(201).send(create(body)));
    app.get<Id>(`${path}/:id`, async ({ params }) => get(params.id));
    app.delete<Id>(`${path}/:id`, async ({ params }, reply) => {
      // REST v1 returns 400 for an unknown id.
      get(params.id);
      remove(params.id);
      return reply.status(204).send();
    });
    if (update) app.patch<Id>(`${path}/:id`, options, async ({ params, body }) => update(params.id, body));
  }
  registerWorkerRoutes(app, { resources, view, clock, pager });
  registerCatalogRoutes(app, resources);
  registerDelegationRoutes(app, resources.delegations);
  registerPodRoutes(app, { pods: [], pagination: { nextCursor: null, hasNextPage: false } });
  registerAccountRoutes(app, resources);
  registerBillingRoutes(app, clock);
  rejectOtherMethods(app, new Map(methods));
}

/** Rejects other methods of the paths with 405, and unknown paths of REST v2 with 404. */
function rejectOtherMethods(app: FastifyInstance, methods: ReadonlyMap<string, ReadonlySet<string>>): void {
  for (const [url, allowed] of methods) {
    const allow = [...allowed].join(", ");
    const path = url.slice(app.prefix.length);
    const method = app.supportedMethods.filter((routeMethod) => !allowed.has(routeMethod));
    const reject = async (): Promise<never> => {
      const text = "The requested method is not allowed for this path.";
      throw new ServiceError("methodNotAllowed", text, { allow });
    };
    // Before the body is read, because its errors do not matter.
    app.route({ method, url: path, onRequest: reject, handler: reject });
  }
  for (const segment of reservedWords) {
    app.all(`/${segment}/*`, async ({ method, url }) => {
      throw new ServiceError("missing", `route ${method} ${url.replace(/\?.*$/s, "")} not found`);
    });
  }
}

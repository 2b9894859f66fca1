import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../../errors";
import type { Resources } from "../../resources";
import type { SystemClock } from "../../steady-clock";
import { parseJsonBodies } from "../request-body";
import { reservedWords } from "../responses";
import { registerAccountRoutes } from "./account";
import { registerBillingRoutes } from "./billing";
import { registerCatalogRoutes } from "./catalog";
import { registerControllers, type V2Controllers } from "./controllers";
import { registerDelegationRoutes } from "./delegations";
import { lastPage, type Pager } from "./pages";
import { registerUnsupportedKind } from "./unsupported-kinds";
import { registerWorkerRoutes, type WorkerView } from "./workers";

/** Registers REST v2 under the root of the job API. */
export function registerRestV2Routes(
  app: FastifyInstance,
  {
    admissionFault,
    resources,
    controllers,
    pager,
    view,
    clock,
  }: {
    /** Returns the error of a request without a valid key or above the rate limit; sets the rate limit's headers. */
    admissionFault(request: FastifyRequest, reply: FastifyReply): ServiceError | undefined;
    resources: Resources;
    controllers: V2Controllers;
    pager: Pager;
    view: WorkerView;
    clock: SystemClock;
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
  parseJsonBodies(app, "unprocessable");
  registerControllers(app, "v2", controllers);
  registerWorkerRoutes(app, { resources, view, clock, pager });
  registerCatalogRoutes(app, resources);
  registerDelegationRoutes(app, resources.delegations);
  registerUnsupportedKind(app, "pod", { pods: [], pagination: lastPage });
  registerUnsupportedKind(app, "global volume", { globalVolumes: [], pagination: lastPage });
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

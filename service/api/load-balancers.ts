import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { disconnectSignal } from "../client-disconnect";
import { notFound } from "../errors";
import type { Faults } from "../faults/faults";
import type { EndpointRow } from "../resources/endpoint-table";
import type { ServiceTimings } from "../timings";
import type { Balancer } from "../workers/balancer";
import type { EndpointRoute } from "./admission";
import type { Auth } from "./auth";
import type { OpenResponses } from "./connections";
import { forward } from "./forwarding";
import { bodyTooLarge, discardBody, hasBody } from "./request-body";
import { originForm } from "./request-target";
import { roots } from "./responses";
import { serveUpgrades, type Upgrade } from "./upgrades";

/** Forwards requests and WebSockets of load balancing endpoints to their workers. */
export function registerLoadBalancerRoutes(
  app: FastifyInstance,
  deps: {
    auth: Pick<Auth, "checkJobs">;
    /** Returns the type of an endpoint; undefined if it does not exist. */
    typeOf(endpointId: string): EndpointRow["type"] | undefined;
    balancer: Pick<Balancer, "lease">;
    faults: Pick<Faults, "ofRequest" | "isDropped">;
    clock: Clock;
    timings: Pick<ServiceTimings, "requestProcessing">;
    openResponses: OpenResponses;
    log: Pick<Logger, "error">;
  },
): void {
  const { auth, typeOf, balancer, faults, clock, timings, openResponses, log } = deps;
  const upgrades = new WeakMap<IncomingMessage, Upgrade>();

  async function handle(request: FastifyRequest<EndpointRoute>, reply: FastifyReply): Promise<void> {
    const { endpointId } = request.params;
    auth.checkJobs(request);
    if (typeOf(endpointId) !== "LB") throw notFound("load balancing endpoint", endpointId);
    await faults.ofRequest(endpointId, reply.raw);
    if (Number(request.headers["content-length"] ?? 0) > limits.loadBalancerPayload) {
      await discardBody(request.raw);
      throw bodyTooLarge(limits.loadBalancerPayload);
    }
    const lease = await balancer.lease(endpointId, disconnectSignal(reply));
    let isHandled = false;
    try {
      isHandled = await forward(request, reply, {
        lease,
        upgrade: upgrades.get(request.raw),
        clock,
        timeLimit: timings.requestProcessing,
        isDropped: () => faults.isDropped(reply.raw),
      });
    } finally {
      lease.release(isHandled);
    }
  }

  // Bodies are forwarded without parsing.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  for (const path of ["", "/*"]) app.all<EndpointRoute>(`${roots.loadBalancers}/:endpointId${path}`, handle);

  serveUpgrades(app.server, {
    isForwarded: (request) =>
      originForm(request).startsWith(`${roots.loadBalancers}/`) &&
      request.headers.upgrade?.toLowerCase() === "websocket" &&
      !hasBody(request),
    serve(request, upgrade) {
      upgrades.set(request, upgrade);
      app.routing(request, upgrade.response);
    },
    openResponses,
    log,
  });
}

import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { disconnectSignal } from "../client-disconnect";
import { notFound } from "../errors";
import type { Faults } from "../faults/faults";
import type { JobTimings } from "../jobs/timings";
import type { EndpointRow } from "../resources/endpoint-table";
import type { Balancer } from "../workers/balancer";
import type { Auth } from "./auth";
import { forward, type Upgrade } from "./forwarding";
import { bodyTooLarge, discardBody } from "./request-body";
import { roots } from "./responses";

interface EndpointRoute {
  Params: { endpointId: string };
}

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
    timings: Pick<JobTimings, "requestProcessing">;
  },
): void {
  const { auth, typeOf, balancer, faults, clock, timings } = deps;
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

  app.server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const isWebSocket = request.headers.upgrade?.toLowerCase() === "websocket";
    const isBalancedUpgrade = request.url?.startsWith(`${roots.loadBalancers}/`) && isWebSocket;
    if (!isBalancedUpgrade || !(socket instanceof Socket))
      return serveWithoutUpgrade(app.server, request, socket, head);
    socket.on("error", () => undefined);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once("finish", () => socket.end());
    upgrades.set(request, { socket, head, response });
    app.routing(request, response);
  });
}

/** Serves a request and ignores its offer to upgrade to another protocol, such as HTTP/2. */
function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    if (name.toLowerCase() !== "upgrade") lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

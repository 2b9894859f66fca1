import type { FastifyInstance } from "fastify";
import { isLoopback } from "../listening";
import type { Auth } from "./auth";

/** Metrics in the Prometheus text format. */
export interface MetricsText {
  contentType: string;
  text: string;
}

/** Prefix of an IPv4 address on an IPv6 socket. */
const mappedPrefix = /^::ffff:(?=\d+\.)/i;

/** Registers `/metrics`. Requests from this machine need no key, because metrics contain nothing confidential except endpoint names. */
export function registerMetricsRoute(
  app: FastifyInstance,
  auth: Pick<Auth, "checkRest">,
  read: () => Promise<MetricsText>,
): void {
  app.get("/metrics", async (request, reply) => {
    if (!isLoopback(request.ip.replace(mappedPrefix, ""))) auth.checkRest(request);
    const { contentType, text } = await read();
    return reply.type(contentType).send(text);
  });
}

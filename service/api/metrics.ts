import type { FastifyInstance } from "fastify";
import { isLoopback } from "../listening";
import type { Auth } from "./auth";

/** Metrics in the text format of Prometheus. */
export interface MetricsText {
  contentType: string;
  text: string;
}

/** Address of an IPv4 client at a socket for IPv6. */
const mapped = /^::ffff:(?=\d+\.)/i;

/** Registers `/metrics`. Requests from this machine need no key, because metrics contain the names of endpoints only. */
export function registerMetricsRoute(
  app: FastifyInstance,
  auth: Pick<Auth, "checkRest">,
  read: () => Promise<MetricsText>,
): void {
  app.get("/metrics", async (request, reply) => {
    if (!isLoopback(request.ip.replace(mapped, ""))) auth.checkRest(request);
    const { contentType, text } = await read();
    return reply.type(contentType).send(text);
  });
}

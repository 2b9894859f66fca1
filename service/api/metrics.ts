import type { FastifyInstance } from "fastify";
import { isLoopback } from "../listening";
import type { JobEvents } from "../queue/events";
import type { EndpointEvents } from "../resources/endpoint-table";
import type { Auth } from "./auth";
import type { createMeters, MeterSources, MetricsText } from "./meters";

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

/**
 * Returns a reader of the job path's metrics, in the text format of Prometheus. The library is loaded by the first event or scrape, because
 * it would add 30 ms to a start.
 */
export function createMetricsReader({
  events,
  endpointEvents,
  ...sources
}: MeterSources & { events: JobEvents; endpointEvents: EndpointEvents }) {
  let loadedMeters: Promise<ReturnType<typeof createMeters>> | undefined;
  const meters = () => {
    loadedMeters ??= import("./meters.js").then(({ createMeters }) => createMeters(sources));
    return loadedMeters;
  };
  events.on("ended", (job) => void meters().then(({ recordJobEnd }) => recordJobEnd(job)));
  events.on(
    "startFailed",
    (endpointId) => void meters().then(({ recordStartFailure }) => recordStartFailure(endpointId)),
  );
  endpointEvents.on(
    "endpointDeleted",
    (endpointId) => void loadedMeters?.then(({ removeEndpoint }) => removeEndpoint(endpointId)),
  );
  return async (): Promise<MetricsText> => (await meters()).read();
}

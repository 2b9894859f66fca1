import type { MetricsText } from "../api/metrics";
import type { JobEvents } from "../jobs/events";
import type { EndpointEvents } from "../resources/endpoint-table";
import type { createMeters, MeterSources } from "./meters";

/** Metrics of the job path for Prometheus. The library is loaded by the first event or scrape, because it would add 30 ms to a start. */
export function createMetrics({
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
  return {
    /** The metrics in the text format of Prometheus. */
    read: async (): Promise<MetricsText> => (await meters()).read(),
  };
}

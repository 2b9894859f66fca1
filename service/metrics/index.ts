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
  let loaded: Promise<ReturnType<typeof createMeters>> | undefined;
  const meters = () => {
    loaded ??= import("./meters.js").then(({ createMeters }) => createMeters(sources));
    return loaded;
  };
  events.on("ended", (job) => void meters().then(({ jobEnded }) => jobEnded(job)));
  events.on("startFailed", (endpointId) => void meters().then(({ startFailed }) => startFailed(endpointId)));
  endpointEvents.on("endpointDeleted", (endpointId) => void loaded?.then(({ forget }) => forget(endpointId)));
  return {
    /** The metrics in the text format of Prometheus. */
    read: async (): Promise<MetricsText> => (await meters()).read(),
  };
}

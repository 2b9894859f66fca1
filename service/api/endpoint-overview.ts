import type { EndpointHealth } from "serverless-compute-api/shapes";
import type { Resources } from "../resources";
import { volumesOf } from "../resources/endpoint-table";

/** Queues and workers of endpoints. */
export interface EndpointsView {
  health(endpointId: string): EndpointHealth;
  workers(endpointId: string): { id: string; status: string; startedAt: number }[];
}

/** The reason why jobs wait in the queue; undefined if workers are idle or may still start. */
function queueHint({ jobs }: EndpointHealth, workers: { status: string }[], workersMax: number): string | undefined {
  const busyCount = workers.filter(({ status }) => status === "running").length;
  if (jobs.inQueue === 0 || busyCount < Math.max(1, workersMax)) return undefined;
  const subject = busyCount === 1 ? "the only worker is" : `all ${busyCount} workers are`;
  return `${subject} busy, and workersMax is ${workersMax}; ${jobs.inQueue} ${jobs.inQueue === 1 ? "job waits" : "jobs wait"}`;
}

/** The endpoints with their queues and workers, for the command line and the console. */
export function endpointsOverview(
  { endpoints, templates, volumes }: Pick<Resources, "endpoints" | "templates" | "volumes">,
  view: EndpointsView,
): object[] {
  return endpoints.list().map((endpoint) => {
    const { id, name, type, workersMin, workersMax, version } = endpoint;
    const { scalerType, scalerValue, idleTimeout } = endpoint;
    const template = templates.find(endpoint.templateId);
    // The container of an endpoint of REST v2 is a template bound to the endpoint.
    const isOwnContainer = template?.boundEndpointId === id;
    const health = view.health(id);
    const running = view.workers(id);
    return {
      id,
      name,
      type,
      workersMin,
      workersMax,
      version,
      scalerType,
      scalerValue,
      idleTimeout,
      template: isOwnContainer ? undefined : { id: endpoint.templateId, name: template?.name },
      imageName: template?.imageName,
      volumes: volumesOf(endpoint).map((volumeId) => volumes.find(volumeId)?.name ?? volumeId),
      ...health,
      running,
      hint: queueHint(health, running, workersMax),
    };
  });
}

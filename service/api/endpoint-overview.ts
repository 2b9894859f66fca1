import type { EndpointHealth } from "serverless-compute-api/shapes";
import type { Resources } from "../resources";
import { volumesOf } from "../resources/endpoint-table";

/** Queues and workers of endpoints. */
export interface EndpointsView {
  health(endpointId: string): EndpointHealth;
  workers(endpointId: string): { id: string; status: string; startedAt: number }[];
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
      ...view.health(id),
      running: view.workers(id),
    };
  });
}

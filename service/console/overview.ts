import type { EndpointHealth } from "serverless-compute-api/shapes";
import { delayTime, executionTime, type Job } from "../jobs/job";
import type { JobView } from "../jobs/job-view";
import type { Jobs } from "../jobs/jobs";
import type { Resources } from "../resources";
import { volumesOf } from "../resources/endpoint-table";

/** Access of the console to the job path. */
export interface ConsoleView extends JobView, Pick<Jobs, "retry"> {
  health(endpointId: string): EndpointHealth;
  workers(endpointId: string): { id: string; status: string; startedAt: number }[];
  /** The reason why the store cannot be written; undefined if it can. */
  problem(): string | undefined;
}

/** The endpoints with their queues and workers. */
export function endpointsOverview(
  { endpoints, templates, volumes }: Resources,
  view: Pick<ConsoleView, "health" | "workers">,
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

/** The other resources. Secrets, credentials and environment variables are reduced to their names. */
export function resourcesOverview({ templates, volumes, secrets, registryAuths }: Resources): object {
  return {
    templates: templates.list({ bound: true }).map(({ id, name, imageName, containerDiskInGb, env }) => ({
      id,
      name,
      imageName,
      containerDiskInGb,
      variables: Object.keys(env),
    })),
    volumes: volumes.list().map(({ id, name, size, dataCenterId }) => ({ id, name, size, dataCenterId })),
    secrets: secrets.list().map(({ id, name }) => ({ id, name })),
    registryAuths: registryAuths.list().map(({ id, name }) => ({ id, name })),
  };
}

/** A job in a list; times in ms. */
export const jobRow = (job: Job, now: number): object => ({
  id: job.id,
  status: job.status,
  operation: job.operation,
  createdAt: job.createdAt,
  finishedAt: job.finishedAt,
  workerId: job.workerId,
  retries: job.retries,
  // The page computes the times of waiting and running jobs from these.
  queuedAt: job.queuedAt,
  startedAt: job.startedAt,
  delayTime: Math.max(0, delayTime(job, now)),
  executionTime: Math.max(0, executionTime(job, now)),
  error: job.error,
});

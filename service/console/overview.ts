import type { EndpointsView } from "../api/endpoint-overview";
import type { Metrics } from "../metrics/metrics";
import type { Job } from "../queue/job";
import type { JobList } from "../queue/list";
import type { Jobs } from "../queue/queue";
import type { Resources } from "../resources";
import type { SteadyClock } from "../steady-clock";

/** Access of the console to the job path. */
export interface ConsoleView
  extends Pick<JobList, "search" | "retryable" | "input">,
    EndpointsView,
    Pick<Jobs, "retry">,
    Pick<Metrics, "readRanges"> {
  /** The reason why the store cannot be written; undefined if it can. */
  problem(): string | undefined;
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

/** A job in a list; times in ms, from which the page computes the times in the queue and at a worker. */
export function jobRow(job: Job, clock: Pick<SteadyClock, "systemChange">) {
  const { startedAt, finishedAt } = job;
  const change = clock.systemChange();
  return {
    id: job.id,
    status: job.status,
    operation: job.operation,
    createdAt: job.createdAt,
    queuedAt: job.queuedAt + change,
    startedAt: startedAt === undefined ? undefined : startedAt + change,
    finishedAt: finishedAt === undefined ? undefined : finishedAt + change,
    workerId: job.workerId,
    retries: job.retries,
    error: job.error,
  };
}

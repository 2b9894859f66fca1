import type { Clock } from "serverless-compute-api/clock";
import type { EndpointsView } from "../api/endpoint-overview";
import type { Metrics } from "../metrics/metrics";
import { isFinal, type Job, presentOf } from "../queue/job";
import type { JobList } from "../queue/list";
import type { Jobs } from "../queue/queue";
import type { Resources } from "../resources";

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
export function jobRow(job: Job, clock: Clock) {
  const change = isFinal(job) ? 0 : clock.now() - presentOf(job, clock);
  // In seconds, because the two clocks differ by some milliseconds, and each difference would change the row.
  const present = (time: number): number => time + Math.round(change / 1000) * 1000;
  return {
    id: job.id,
    status: job.status,
    operation: job.operation,
    createdAt: job.createdAt,
    queuedAt: present(job.queuedAt),
    startedAt: job.startedAt === undefined ? undefined : present(job.startedAt),
    finishedAt: job.finishedAt,
    workerId: job.workerId,
    retries: job.retries,
    error: job.error,
  };
}

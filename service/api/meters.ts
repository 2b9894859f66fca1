import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { EndpointHealth } from "serverless-compute-api/shapes";
import { delayTime, executionTime, type FinalJob } from "../queue/job";

/** Metrics in the Prometheus text format. */
export interface MetricsText {
  contentType: string;
  text: string;
}

/** Sources of values that are read by each scrape. */
export interface MeterSources {
  endpoints(): { id: string; name: string }[];
  health(endpointId: string): EndpointHealth;
}

/** Upper bounds of the buckets of a job's times, s. */
const buckets = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800];

/** States of workers; ready workers are also idle. */
const workerStates = ["idle", "running", "initializing", "throttled", "unhealthy"] as const;

const prefix = "serverless_compute";

/** The metrics of a service since its start, by endpoint. Labels contain the endpoint's id; `endpoint_info` contains its name. */
export function createMeters({ endpoints, health }: MeterSources) {
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ["endpoint"] as const;
  const stateLabelNames = ["endpoint", "state"] as const;
  const endedJobs = new Counter({
    name: `${prefix}_jobs_ended_total`,
    labelNames: stateLabelNames,
    registers,
    help: "Jobs that ended since the start of the service, by final state.",
  });
  const startFailures = new Counter({
    name: `${prefix}_worker_start_failures_total`,
    labelNames,
    registers,
    help: "Workers that ended before they requested a job, or could not be started.",
  });
  const queueSeconds = new Histogram({
    name: `${prefix}_job_queue_seconds`,
    labelNames,
    buckets,
    registers,
    help: "Time from the submission of a job to its start at a worker.",
  });
  const executionSeconds = new Histogram({
    name: `${prefix}_job_execution_seconds`,
    labelNames,
    buckets,
    registers,
    help: "Time from the start of a job at a worker to its end.",
  });
  const info = new Gauge({
    name: `${prefix}_endpoint_info`,
    labelNames: ["endpoint", "name"] as const,
    registers,
    help: "Always 1; the endpoint's name by its id.",
  });
  const jobs = new Gauge({
    name: `${prefix}_jobs`,
    labelNames: stateLabelNames,
    registers,
    help: "Jobs in the queue and at workers.",
  });
  const workers = new Gauge({
    name: `${prefix}_workers`,
    labelNames: stateLabelNames,
    registers,
    help: "Workers by state; throttled workers wait for the end of a backoff or for stock.",
  });

  function readGauges(): void {
    for (const gauge of [info, jobs, workers]) gauge.reset();
    for (const { id: endpoint, name } of endpoints()) {
      const { jobs: ofJobs, workers: ofWorkers } = health(endpoint);
      info.set({ endpoint, name }, 1);
      jobs.set({ endpoint, state: "IN_QUEUE" }, ofJobs.inQueue);
      jobs.set({ endpoint, state: "IN_PROGRESS" }, ofJobs.inProgress);
      for (const state of workerStates) workers.set({ endpoint, state }, ofWorkers[state] ?? 0);
    }
  }

  return {
    recordJobEnd(job: FinalJob): void {
      const labels = { endpoint: job.endpointId };
      endedJobs.inc({ ...labels, state: job.status });
      if (job.startedAt === undefined) return;
      queueSeconds.observe(labels, Math.max(0, delayTime(job, job.finishedAt)) / 1000);
      executionSeconds.observe(labels, Math.max(0, executionTime(job, job.finishedAt)) / 1000);
    },
    recordStartFailure: (endpoint: string): void => startFailures.inc({ endpoint }),
    /** Removes the metrics of a deleted endpoint. */
    removeEndpoint(endpoint: string): void {
      for (const state of ["COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"]) endedJobs.remove({ endpoint, state });
      for (const metric of [startFailures, queueSeconds, executionSeconds]) metric.remove({ endpoint });
    },
    async read(): Promise<MetricsText> {
      readGauges();
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

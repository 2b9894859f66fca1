import type { FastifyInstance } from "fastify";
import type { EndpointHealth } from "serverless-compute-api/shapes";
import { isLoopback } from "../listening";
import { type Metrics, type Times, timeBounds } from "../metrics/metrics";
import type { JobCounters } from "../queue/counters";
import type { Auth } from "./auth";

/** Sources of the metrics, which are read by each scrape. */
export interface MetricsSources {
  endpoints(): { id: string; name: string }[];
  health(endpointId: string): EndpointHealth;
  counts: JobCounters["read"];
  metrics: Metrics["find"];
}

/** Prefix of an IPv4 address on an IPv6 socket. */
const mappedPrefix = /^::ffff:(?=\d+\.)/i;

/** Registers `/metrics`. Requests from this machine need no key, because metrics contain nothing confidential except endpoint names. */
export function registerMetricsRoute(
  app: FastifyInstance,
  auth: Pick<Auth, "checkRest">,
  sources: MetricsSources,
): void {
  app.get("/metrics", async (request, reply) => {
    if (!isLoopback(request.ip.replace(mappedPrefix, ""))) auth.checkRest(request);
    return reply.type("text/plain; version=0.0.4; charset=utf-8").send(metricsText(sources));
  });
}

/** States of workers; ready workers are also idle. */
const workerStates = ["idle", "running", "initializing", "throttled", "unhealthy"] as const;

const prefix = "serverless_compute";

/** A value of a metric; histograms have several, with suffixes. */
interface Sample {
  suffix?: "_bucket" | "_sum" | "_count";
  labels: Readonly<Record<string, string | number>>;
  value: number;
}

const escaped = (text: string): string =>
  text.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));

function metric(name: string, type: "counter" | "gauge" | "histogram", help: string, samples: Sample[]): string {
  const lines = samples.map(({ suffix = "", labels, value }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(String(text))}"`);
    return `${prefix}_${name}${suffix}{${pairs.join(",")}} ${value}\n`;
  });
  return `# HELP ${prefix}_${name} ${help}\n# TYPE ${prefix}_${name} ${type}\n${lines.join("")}`;
}

const byState = (endpoint: string, counts: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(counts).map(([state, value]) => ({ labels: { endpoint, state }, value }));

/** The samples of a histogram, whose buckets include all lower ones. */
function histogram(endpoint: string, times: Times | undefined): Sample[] {
  if (!times) return [];
  const { counts, sum } = times;
  let count = 0;
  const buckets = [...timeBounds, "+Inf"].map((le, bucket): Sample => {
    count += counts[bucket] ?? 0;
    return { suffix: "_bucket", labels: { le, endpoint }, value: count };
  });
  return [
    ...buckets,
    { suffix: "_sum", labels: { endpoint }, value: sum },
    { suffix: "_count", labels: { endpoint }, value: count },
  ];
}

/**
 * The metrics in the text format of Prometheus. Labels contain the endpoint's id; `endpoint_info` contains its name. This file writes the
 * format itself: a library counted the same jobs again, which took 2 µs per job and 5 MB of dependencies.
 */
function metricsText({ endpoints, health, counts, metrics }: MetricsSources): string {
  const rows = endpoints().map(({ id, name }) => {
    const { retried: _, ...ended } = counts(id);
    return { endpoint: id, name, ended, ...health(id), ...metrics(id) };
  });
  return [
    metric(
      "jobs_ended_total",
      "counter",
      "Jobs that ended since the creation of the endpoint, by final state.",
      rows.flatMap(({ endpoint, ended }) => byState(endpoint, ended)),
    ),
    metric(
      "worker_start_failures_total",
      "counter",
      "Workers that ended before they requested a job, or could not be started.",
      rows.map(({ endpoint, startFailures = 0 }) => ({ labels: { endpoint }, value: startFailures })),
    ),
    metric(
      "job_queue_seconds",
      "histogram",
      "Time from the submission or retry of a job to its last start, recorded at its end.",
      rows.flatMap(({ endpoint, queueTimes }) => histogram(endpoint, queueTimes)),
    ),
    metric(
      "job_execution_seconds",
      "histogram",
      "Time from the start of a job at a worker to its end.",
      rows.flatMap(({ endpoint, executionTimes }) => histogram(endpoint, executionTimes)),
    ),
    metric(
      "endpoint_info",
      "gauge",
      "Always 1; the endpoint's name by its id.",
      rows.map(({ endpoint, name }) => ({ labels: { endpoint, name }, value: 1 })),
    ),
    metric(
      "jobs",
      "gauge",
      "Jobs in the queue and at workers.",
      rows.flatMap(({ endpoint, jobs }) => byState(endpoint, { IN_QUEUE: jobs.inQueue, IN_PROGRESS: jobs.inProgress })),
    ),
    metric(
      "workers",
      "gauge",
      "Workers by state; throttled workers wait for the end of a backoff or for stock.",
      rows.flatMap(({ endpoint, workers }) =>
        workerStates.map((state) => ({ labels: { endpoint, state }, value: workers[state] ?? 0 })),
      ),
    ),
  ].join("");
}

import type { FastifyInstance } from "fastify";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { notFound } from "../../errors";
import type { Resources } from "../../resources";
import { account } from "../../resources/account";
import { eventStreamType } from "../../server-sent-events";
import type { SystemClock } from "../../steady-clock";
import { parseV2, queryInteger } from "../../validation";
import type { WorkerState } from "../../workers/worker-record";
import { isoTime } from "../responses";
import type { Pager } from "./pages";
import { openWorkerLogEvents } from "./worker-log-events";

/** Worker data for REST v2. */
export interface WorkerView {
  workers(endpointId: string): WorkerState[];
  /** Returns the path of the log with the output of the endpoint's workers. */
  logFile(endpointId: string): string;
}

const statuses = {
  running: "RUNNING",
  idle: "IDLE",
  initializing: "INITIALIZING",
  throttled: "THROTTLED",
  unhealthy: "UNHEALTHY",
} as const;

const time = z.iso.datetime({ offset: true });
const logQuery = z.object({
  source: z.enum(["container", "system"]).default("container"),
  /** Number of past lines to send first. */
  tail: queryInteger(0, limits.logTail).default(100),
  /** Time after which to begin, instead of `tail`. */
  since: time.optional(),
});
/** The id of the last received event, which is a time. */
const logHeaders = z.object({ "last-event-id": time.optional() });

const streamHeaders = { "cache-control": "no-cache", connection: "keep-alive", "x-accel-buffering": "no" };

/** Routes for an endpoint's workers and versions: /workers, /releases, and the workers' logs. */
export function registerWorkerRoutes(
  app: FastifyInstance,
  { resources, view, clock, pager }: { resources: Resources; view: WorkerView; clock: SystemClock; pager: Pager },
): void {
  const { endpoints, templates } = resources;
  type Id = { Params: { id: string } };

  app.get<Id>("/serverless/:id/workers", async ({ params }) => {
    const endpoint = endpoints.get(params.id);
    const releases = resources.releases(endpoint.id);
    const currentWorkers = view.workers(endpoint.id);
    const summary = { running: 0, idle: 0, initializing: 0, throttled: 0, unhealthy: 0 };
    // The summary covers the list, which has no workers that wait for a backoff.
    for (const { status } of currentWorkers) summary[status]++;
    const imageOf = (version: number): string =>
      releases.find((release) => release.version === version)?.image ?? templates.get(endpoint.templateId).imageName;
    const workers = currentWorkers.map(({ id, status, version, isStale, startedAt }) => ({
      id,
      status: statuses[status],
      isStale,
      version,
      gpuCount: endpoint.computeType === "GPU" ? endpoint.gpuCount : 0,
      image: imageOf(version),
      uptimeSeconds: Math.max(0, Math.floor((clock.now() - startedAt) / 1000)),
      gpuTypeId: endpoint.gpuTypeIds[0] ?? null,
      dataCenterId: endpoint.dataCenterIds[0] ?? null,
      startedAt: isoTime(startedAt),
    }));
    return { workers, summary: { ...summary, total: workers.length }, endpointVersion: endpoint.version };
  });

  app.get<Id>("/serverless/:id/releases", async ({ params, query }) => {
    const endpoint = endpoints.get(params.id);
    const readNewest = (before: number) =>
      resources
        .releases(endpoint.id)
        .filter(({ version }) => version < before)
        .map((row) => ({ position: row.version, row }));
    const { rows: releases, pagination } = pager.page(`/serverless/${endpoint.id}/releases`, readNewest, query);
    const workers = view.workers(endpoint.id);
    const count = (version: number): number => workers.filter((worker) => worker.version === version).length;
    const workersOnLatest = workers.filter(({ isStale }) => !isStale).length;
    const workersTotal = workers.length;
    return {
      endpointVersion: endpoint.version,
      rollout: {
        inProgress: workersOnLatest < workersTotal,
        workersOnLatest,
        workersTotal,
        percentOnLatest: workersTotal === 0 ? 0 : Math.floor((100 * workersOnLatest) / workersTotal),
      },
      releases: releases.map(({ version, createdAt, diff }) => ({
        id: `${endpoint.id}-${version}`,
        version,
        source: "MANUAL",
        workerCount: count(version),
        createdAt: isoTime(createdAt),
        diff,
        buildId: null,
        createdByUserId: account.id,
      })),
      pagination,
    };
  });

  app.get<Id>("/serverless/:id/builds", async ({ params, query }) => {
    const path = `/serverless/${endpoints.get(params.id).id}/builds`;
    // The local service does not build images.
    const { rows: builds, pagination } = pager.page<never>(path, () => [], query, 100);
    return { builds, pagination };
  });
  app.get<{ Params: { id: string; buildId: string } }>("/serverless/:id/builds/:buildId", async ({ params }) => {
    endpoints.get(params.id);
    throw notFound("build", params.buildId);
  });

  type Worker = { Params: { id: string; workerId: string } };
  app.get<Worker>("/serverless/:id/workers/:workerId/logs", async ({ params, query, headers }, reply) => {
    const { id } = endpoints.get(params.id);
    const { workerId } = params;
    const { source, tail, since } = parseV2(logQuery, query);
    const { "last-event-id": lastEventId } = parseV2(logHeaders, headers);
    const events = await openWorkerLogEvents({
      file: view.logFile(id),
      workerId,
      source,
      tail,
      after: lastEventId ?? since,
      isRunning: () => view.workers(id).some((worker) => worker.id === workerId),
    });
    if (!events) throw notFound("worker", workerId);
    return reply.type(eventStreamType).headers(streamHeaders).send(events);
  });
}

import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { Clock } from "serverless-compute-api/clock";
import { z } from "zod";
import { notFound } from "../errors";
import type { Resources } from "../resources";
import type { EndpointRow } from "../resources/endpoints";
import type { Release } from "../resources/releases";
import { parseInput } from "../validation";
import type { WorkerPhase } from "../workers/registry";
import { openWorkerLogEvents } from "./worker-log-events";

/** A worker of an endpoint: what it does, and since when it runs in ms since the epoch. */
interface WorkerState {
  id: string;
  status: WorkerPhase;
  startedAt: number;
}

/** What REST v2 needs to know of workers. */
export interface WorkerView {
  workers(endpointId: string): WorkerState[];
  /** Workers that wait for the end of a back-off before they are started. */
  throttled(endpointId: string): number;
  /** The file that has the output of the endpoint's workers. */
  logFile(endpointId: string): string;
}

const statuses = { running: "RUNNING", idle: "IDLE", initializing: "INITIALIZING", unhealthy: "UNHEALTHY" } as const;

const time = (ms: number): string => new Date(ms).toISOString();

/** The version that a worker runs: the last one before its start. Each new version replaces the workers. */
const releaseOf = ({ startedAt }: WorkerState, releases: Release[]): Release | undefined =>
  releases.find(({ createdAt }) => createdAt <= startedAt) ?? releases.at(-1);

const versionOf = (worker: WorkerState, releases: Release[], { version }: EndpointRow): number =>
  releaseOf(worker, releases)?.version ?? version;

const logQuery = z.object({
  source: z.enum(["container", "system"]).optional(),
  /** Past lines to begin with. */
  tail: z.coerce.number().pipe(z.int().min(0).max(5000)).default(100),
  /** Begins after this time instead. */
  since: z.string().optional(),
});

/** What REST v2 shows of an endpoint's workers and versions: /workers, /releases, and the workers' logs. */
export function registerWorkerRoutes(
  app: FastifyInstance,
  { resources, view, clock }: { resources: Resources; view: WorkerView; clock: Clock },
): void {
  const { endpoints, templates } = resources;
  type Id = { Params: { id: string } };

  app.get<Id>("/serverless/:id/workers", async ({ params }) => {
    const endpoint = endpoints.get(params.id);
    const releases = resources.releases(endpoint.id);
    const current = view.workers(endpoint.id);
    const summary = { running: 0, idle: 0, initializing: 0, throttled: view.throttled(endpoint.id), unhealthy: 0 };
    for (const { status } of current) summary[status]++;
    const workers = current.map((worker) => {
      const version = versionOf(worker, releases, endpoint);
      return {
        id: worker.id,
        status: statuses[worker.status],
        isStale: version < endpoint.version,
        version,
        gpuCount: endpoint.computeType === "GPU" ? endpoint.gpuCount : 0,
        image: releaseOf(worker, releases)?.image ?? templates.get(endpoint.templateId).imageName,
        uptimeSeconds: Math.max(0, Math.floor((clock.now() - worker.startedAt) / 1000)),
        gpuTypeId: endpoint.gpuTypeIds[0] ?? null,
        dataCenterId: endpoint.dataCenterIds[0] ?? null,
        startedAt: time(worker.startedAt),
      };
    });
    return { workers, summary: { ...summary, total: workers.length }, endpointVersion: endpoint.version };
  });

  app.get<Id>("/serverless/:id/releases", async ({ params }) => {
    const endpoint = endpoints.get(params.id);
    const releases = resources.releases(endpoint.id);
    const versions = view.workers(endpoint.id).map((worker) => versionOf(worker, releases, endpoint));
    const count = (version: number): number => versions.filter((one) => one === version).length;
    const workersOnLatest = count(endpoint.version);
    const workersTotal = versions.length;
    return {
      endpointVersion: endpoint.version,
      rollout: {
        inProgress: workersOnLatest < workersTotal,
        workersOnLatest,
        workersTotal,
        percentOnLatest: workersTotal === 0 ? 100 : Math.floor((100 * workersOnLatest) / workersTotal),
      },
      releases: releases.map(({ version, createdAt, diff }) => ({
        id: `${endpoint.id}-${version}`,
        ...{ version, source: "API", workerCount: count(version), createdAt: time(createdAt), diff },
      })),
    };
  });

  type Worker = { Params: { id: string; workerId: string } };
  app.get<Worker>("/serverless/:id/workers/:workerId/logs", async ({ params, query, headers }, reply) => {
    const { id } = endpoints.get(params.id);
    const { workerId } = params;
    const { source, tail, since } = parseInput(logQuery, query, "unprocessable");
    const lastEventId = headers["last-event-id"];
    const events = await openWorkerLogEvents({
      ...{ file: view.logFile(id), workerId, source, tail },
      after: (Array.isArray(lastEventId) ? lastEventId.at(-1) : lastEventId) ?? since,
      running: () => view.workers(id).some((worker) => worker.id === workerId),
    });
    if (!events) throw notFound("worker", workerId);
    return reply.type("text/event-stream").header("cache-control", "no-store").send(Readable.from(events));
  });
}

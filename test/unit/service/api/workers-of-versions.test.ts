import fastify from "fastify";
import { expect, test } from "vitest";
import { createPager } from "../../../../service/api/management/pages";
import { registerWorkerRoutes } from "../../../../service/api/management/workers";
import type { WorkerState } from "../../../../service/workers/worker-record";
import { useResources } from "../resources/resources-rig";

/** An endpoint whose image has changed once, and its routes for workers. */
async function useEndpoint(workers: Pick<WorkerState, "id" | "status" | "version" | "isStale">[]) {
  const resources = useResources();
  const template = resources.template({ imageName: "acme/chat:1" });
  const { id } = resources.endpoints.create({ name: "e", templateId: template, gpuCount: 2 });
  resources.templates.update(template, { imageName: "acme/chat:2" });
  const startedAt = resources.clock.now();
  const view = { workers: () => workers.map((worker) => ({ ...worker, startedAt })), logFile: () => "" };
  const app = fastify();
  registerWorkerRoutes(app, { resources, view, clock: resources.clock, pager: createPager(1) });
  await resources.clock.advance(2999);
  const get = async (path: string): Promise<unknown> => (await app.inject({ url: `/serverless/${id}${path}` })).json();
  return { id, get };
}

test("each worker has the image of its version", async () => {
  const { get } = await useEndpoint([
    { id: "old", status: "running", version: 1, isStale: true },
    { id: "new", status: "throttled", version: 2, isStale: false },
  ]);
  expect(await get("/workers")).toMatchObject({
    workers: [
      { id: "old", status: "RUNNING", image: "acme/chat:1", isStale: true, gpuCount: 2, uptimeSeconds: 2 },
      { id: "new", status: "THROTTLED", image: "acme/chat:2", isStale: false },
    ],
    summary: { running: 1, idle: 0, initializing: 0, throttled: 1, unhealthy: 0, total: 2 },
    endpointVersion: 2,
  });
});

test("the releases count the workers of each version, and the pages contain each once", async () => {
  const { id, get } = await useEndpoint([
    { id: "a", status: "idle", version: 1, isStale: true },
    { id: "b", status: "idle", version: 1, isStale: true },
    { id: "c", status: "idle", version: 2, isStale: false },
  ]);
  const first = await get("/releases");
  expect(first).toMatchObject({
    rollout: { inProgress: true, workersOnLatest: 1, workersTotal: 3, percentOnLatest: 33 },
    releases: [{ id: `${id}-2`, version: 2, workerCount: 1 }],
    pagination: { hasNextPage: true },
  });
  const cursor = String(Object(Object(first).pagination).nextCursor);
  expect(await get(`/releases?cursor=${cursor}`)).toMatchObject({
    releases: [{ version: 1, workerCount: 2 }],
    pagination: { hasNextPage: false, nextCursor: null },
  });
});

test("an endpoint without workers has no rollout", async () => {
  const { get } = await useEndpoint([]);
  expect(await get("/releases")).toMatchObject({
    rollout: { inProgress: false, workersOnLatest: 0, workersTotal: 0, percentOnLatest: 0 },
  });
});

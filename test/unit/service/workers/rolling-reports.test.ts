import { expect, test, vi } from "vitest";
import { at } from "../../../support/raw-http";
import { useRollingEndpoint } from "./support/rolling";

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

test("both REST versions list old and new workers while the new version's first worker has no job yet", async () => {
  const endpoint = await useRollingEndpoint({ workersMin: 2, workersMax: 3 }, { rolloutPause: 600_000 });
  await expect.poll(() => endpoint.phases("IDLE")).toBe(2);
  await endpoint.deploy({ VERSION: "2" });
  await expect.poll(() => endpoint.phases("IDLE")).toBe(3);
  const workers = await endpoint.workers();
  expect(workers.map(({ version, isStale }) => [version, isStale]).sort()).toEqual([
    [1, true],
    [1, true],
    [2, false],
  ]);
  const { json } = await endpoint.v2("/releases");
  expect(json).toMatchObject({
    endpointVersion: 2,
    rollout: { inProgress: true, workersOnLatest: 1, workersTotal: 3, percentOnLatest: 33 },
    releases: [
      { version: 2, workerCount: 1 },
      { version: 1, workerCount: 2 },
    ],
  });
  const v1 = await endpoint.v1("?includeWorkers=true");
  expect(at(v1, "version")).toBe(2);
  const same = workers.map(({ id, version, isStale }) => expect.objectContaining({ id, version, isStale }));
  expect(at(v1, "workers")).toEqual(same);
  await endpoint.answersFrom("2");
  await endpoint.rolledOut(2);
  expect((await endpoint.v2("/releases")).json).toMatchObject({
    rollout: { workersOnLatest: 2, percentOnLatest: 100 },
  });
});

test("a worker that was still starting when the endpoint changed ends immediately", async () => {
  const endpoint = await useRollingEndpoint({ workersMin: 1, workersMax: 1 }, {}, { VERSION: "1", BREAKS: "silence" });
  await expect.poll(() => endpoint.phases("INITIALIZING")).toBe(1);
  await endpoint.deploy({ VERSION: "2" });
  await endpoint.answersFrom("2");
  expect(endpoint.max()).toBe(1);
});

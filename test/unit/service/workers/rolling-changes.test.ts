import { expect, test, vi } from "vitest";
import { onlyCompletedBy, startLoad } from "../../../support/steady-load";
import { useRollingEndpoint } from "./support/rolling";

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

test("a second change during a rollout replaces it; the oldest workers run jobs until the newest can", async () => {
  const endpoint = await useRollingEndpoint({ workersMin: 3, workersMax: 3 });
  const load = startLoad(endpoint.call);
  await endpoint.answersFrom("1");
  await endpoint.deploy({ VERSION: "2", BREAKS: "silence" });
  await expect.poll(() => endpoint.versions()).toContain(2);
  await endpoint.deploy({ VERSION: "3" });
  await endpoint.rolledOut(3);
  await load.completedBy("3");
  expect(await load.stop()).toEqual(onlyCompletedBy("1", "3"));
  expect(endpoint.max()).toBeLessThanOrEqual(3);
  await expect.poll(() => endpoint.workers()).toHaveLength(3);
});

test("workers of a version that completed jobs finish their jobs after a rollback", async () => {
  const endpoint = await useRollingEndpoint({ workersMin: 1, workersMax: 2 });
  await endpoint.answersFrom("1");
  await endpoint.deploy({ VERSION: "2" });
  await endpoint.answersFrom("2");
  await endpoint.rolledOut(2);
  const long = await endpoint.longJob();
  await endpoint.deploy({ VERSION: "1" });
  await endpoint.answersFrom("1");
  long.finish();
  expect(await long.record()).toMatchObject({ status: "COMPLETED", output: { version: "2" } });
  expect((await endpoint.call("GET", "/health")).json).toMatchObject({ jobs: { retried: 0 } });
});

test("a change of the workers' hardware replaces them within the same version", async () => {
  const endpoint = await useRollingEndpoint({ workersMin: 2, workersMax: 2 });
  await endpoint.answersFrom("1");
  await expect.poll(() => endpoint.phases("IDLE")).toBe(2);
  // None of the old workers can end before its job does.
  const running = [await endpoint.longJob(), await endpoint.longJob()];
  const load = startLoad(endpoint.call);
  const before = (await endpoint.workers()).map(({ id }) => id);
  await endpoint.change({ gpuTypeIds: ["NVIDIA A40"] });
  expect((await endpoint.v2("/releases")).json).toMatchObject({
    endpointVersion: 1,
    rollout: { inProgress: true, workersOnLatest: 0, percentOnLatest: 0 },
  });
  for (const { finish } of running) finish();
  await endpoint.rolledOut(1);
  expect((await endpoint.workers()).filter(({ id }) => before.includes(id))).toEqual([]);
  expect(await load.stop()).toEqual(onlyCompletedBy("1"));
});

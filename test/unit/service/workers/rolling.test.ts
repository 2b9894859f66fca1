import { expect, test, vi } from "vitest";
import { at } from "../../../support/raw-http";
import { onlyCompletedBy, startLoad } from "../../../support/steady-load";
import { useRollingEndpoint } from "./support/rolling";

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

test.each([1, 3])(
  "a good version replaces %i workers at workersMax 3 while jobs run, never beyond workersMax",
  async (workersMin) => {
    const endpoint = await useRollingEndpoint({ workersMin, workersMax: 3 });
    const load = startLoad(endpoint.call);
    await endpoint.answersFrom("1");
    await endpoint.deploy({ VERSION: "2" });
    await endpoint.rolledOut(2);
    await load.completedBy("2");
    expect(await load.stop()).toEqual(onlyCompletedBy("1", "2"));
    expect(endpoint.max()).toBeLessThanOrEqual(3);
    await expect.poll(() => endpoint.workers()).toMatchObject({ length: workersMin });
  },
);

test("an old worker finishes its job and takes no other once a new worker is proven", async () => {
  const endpoint = await useRollingEndpoint({ workersMin: 1, workersMax: 2 });
  await endpoint.answersFrom("1");
  const long = await endpoint.longJob();
  await endpoint.deploy({ VERSION: "2" });
  await endpoint.answersFrom("2");
  await expect.poll(() => endpoint.workers()).toMatchObject([{ isStale: true, status: "RUNNING" }, { isStale: false }]);
  expect(await endpoint.v1("?includeWorkers=true")).toMatchObject({
    version: 2,
    workers: (await endpoint.workers()).map(({ id, version, isStale }) => ({ id, version, isStale })),
  });
  long.finish();
  expect(await long.record()).toMatchObject({ status: "COMPLETED", output: { version: "1" } });
  await endpoint.rolledOut(2);
});

test.each(["start", "silence"])(
  "a version that breaks at its %s leaves the jobs to the old workers, and its repair is rolled out",
  async (breaks) => {
    const endpoint = await useRollingEndpoint({ workersMin: 2, workersMax: 2 });
    const load = startLoad(endpoint.call);
    await endpoint.answersFrom("1");
    await endpoint.deploy({ VERSION: "2", BREAKS: breaks });
    if (breaks === "start") {
      await expect
        .poll(async () => at((await endpoint.call("GET", "/health")).json, "message"))
        .toContain("version 2 cannot start");
      await endpoint.moreStarts(5);
    } else await expect.poll(() => endpoint.versions()).toEqual([1, 2]);
    const { json } = await endpoint.v2("/releases");
    expect(json).toMatchObject({
      endpointVersion: 2,
      rollout: { inProgress: true, workersOnLatest: expect.any(Number) },
    });
    expect((await endpoint.workers()).filter(({ isStale, version }) => isStale && version === 1)).toHaveLength(1);
    await endpoint.answersFrom("1");
    await endpoint.deploy({ VERSION: "3" });
    await endpoint.rolledOut(3);
    await load.completedBy("3");
    expect(await load.stop()).toEqual(onlyCompletedBy("1", "3"));
    expect(endpoint.max()).toBeLessThanOrEqual(2);
  },
);

test.each([
  ["at workersMax 1 jobs wait while a version does not start, and run after the rollback", "start", 0, 1, 5],
  ["a version that crashes in its jobs fails no job that old workers can run", "crash", 2, 3, 3],
])("%s", async (_rule, breaks, workersMin, workersMax, starts) => {
  const endpoint = await useRollingEndpoint({ workersMin, workersMax });
  const load = startLoad(endpoint.call);
  await endpoint.answersFrom("1");
  await endpoint.deploy({ VERSION: "2", BREAKS: breaks });
  await endpoint.moreStarts(starts);
  await endpoint.deploy({ VERSION: "1" });
  await endpoint.rolledOut(3);
  expect(await load.stop()).toEqual(onlyCompletedBy("1"));
  expect(endpoint.max()).toBeGreaterThanOrEqual(Math.max(1, workersMin));
  expect(endpoint.max()).toBeLessThanOrEqual(workersMax);
});

test("jobs taken by a hanging version run after the rollback; old workers run all others before it", async () => {
  const endpoint = await useRollingEndpoint({ workersMin: 2, workersMax: 2 });
  const load = startLoad(endpoint.call);
  await endpoint.answersFrom("1");
  await endpoint.deploy({ VERSION: "2", BREAKS: "hang" });
  const hangs = () =>
    endpoint.workers().then((all) => all.some((worker) => worker.version === 2 && worker.status === "RUNNING"));
  await expect.poll(hangs).toBe(true);
  await endpoint.answersFrom("1");
  await endpoint.deploy({ VERSION: "1" });
  await endpoint.rolledOut(3);
  expect(await load.stop()).toEqual(onlyCompletedBy("1"));
  expect(endpoint.max()).toBeLessThanOrEqual(2);
});

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

test("a worker that was still starting when the endpoint changed ends immediately", async () => {
  const endpoint = await useRollingEndpoint({ workersMin: 1, workersMax: 1 }, { VERSION: "1", BREAKS: "silence" });
  await expect.poll(() => endpoint.phases("INITIALIZING")).toBe(1);
  await endpoint.deploy({ VERSION: "2" });
  await endpoint.answersFrom("2");
  expect(endpoint.max()).toBe(1);
});

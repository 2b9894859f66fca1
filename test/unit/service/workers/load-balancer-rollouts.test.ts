import { writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { startHttpLoad } from "../../../support/http-load";
import { apiKey } from "../../../support/local-service";
import { useLoadBalancer } from "./support/load-balancer";
import { scratchFile } from "./support/programs";

/** Minimum number of requests of a load; higher in full runs. */
const minimumCount = process.env["FULL"] ? 10_000 : 400;

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

test.each([1, 3])("16 clients see no error while a change replaces the workers at workersMax %i", async (max) => {
  const balancer = await useLoadBalancer({
    env: { VERSION: "1" },
    workers: { min: max, max, idleTimeout: 30 },
    scaling: { type: "REQUEST_COUNT", requestCount: 4 },
  });
  const load = startHttpLoad(`${balancer.url}/?ms=1`, apiKey);
  const startTime = performance.now();
  await load.waitForCount(minimumCount / 4);
  await balancer.change({ env: { VERSION: "2" } });
  await balancer.rolledOut(2);
  await load.waitForVersion("2");
  await load.waitForCount(minimumCount);
  const counts = await load.stop();
  if (process.env["FULL"])
    console.info(`workersMax ${max}: ${JSON.stringify(counts)} in ${Math.round(performance.now() - startTime)} ms`);
  expect(counts).toEqual({ "200 1": expect.any(Number), "200 2": expect.any(Number) });
});

test("an old worker finishes its request, but receives no more once a new worker is ready", async () => {
  const { request, received, change, workers, rolledOut } = await useLoadBalancer({
    env: { VERSION: "1" },
    workers: { min: 1, max: 2 },
  });
  const endFile = scratchFile();
  await received("/");
  const long = request(`/?until=${endFile}`);
  await expect.poll(workers).toMatchObject([{ status: "RUNNING" }]);
  await change({ env: { VERSION: "2" } });
  await expect.poll(async () => (await received("/")).version).toBe("2");
  await expect.poll(workers).toMatchObject([{ isStale: true, status: "RUNNING" }, { isStale: false }]);
  writeFileSync(endFile, "");
  expect(await (await long).json()).toMatchObject({ version: "1" });
  await rolledOut(2);
});

test("a version that is never healthy receives no requests, and its repair is rolled out", async () => {
  const balancer = await useLoadBalancer({ env: { VERSION: "1" }, workers: { min: 2, max: 2 } });
  const load = startHttpLoad(balancer.url, apiKey, 4);
  await load.waitForVersion("1");
  await balancer.change({ env: { VERSION: "2", BREAKS: "health" } });
  await expect.poll(async () => (await balancer.workers()).some(({ version }) => version === 2)).toBe(true);
  const before = load.counts["200 1"] ?? 0;
  await load.waitForCount(before + 50);
  await balancer.change({ env: { VERSION: "3" } });
  await balancer.rolledOut(3);
  await load.waitForVersion("3");
  expect(await load.stop()).toEqual({ "200 1": expect.any(Number), "200 3": expect.any(Number) });
});

import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { processorTime, residentMemory } from "../../bench/processes";
import { createEndpoint } from "../docker/rig";
import { serviceFolder } from "../support/folders";
import { at, send } from "../support/raw-http";
import { useCluster, useNamespace } from "./rig";
import { useServiceProcess } from "./service-process";
import { useSimulatedNode } from "./simulated-node";

/** Number of workers; WORKERS=n overrides it. */
const workers = Number(process.env["WORKERS"] ?? 100);
/** Time without jobs in which the processor time is measured, s. */
const idleTime = 10;

test(`the service uses less than 1 MiB of memory for each of ${workers} workers`, async (context) => {
  const cluster = await useCluster(context);
  const namespace = await useNamespace(cluster.admin);
  const node = await useSimulatedNode(cluster, namespace);
  const service = await useServiceProcess(context, { ...cluster, namespace, dataFolder: serviceFolder() });
  const key = service.apiKey;
  const patch = async (path: string, json: object): Promise<void> => {
    const { status, text } = await send("PATCH", `${service.baseUrl}/${path}`, { key, json });
    if (status !== 200) throw new Error(`PATCH ${path} returned ${status} ${text}`);
  };
  const id = await createEndpoint(service, {
    image: cluster.image,
    // No node has this type, so that the scheduler leaves the pods to the simulated node.
    endpoint: { workersMax: 0, gpuTypeIds: ["NVIDIA A40"] },
  });
  const { json } = await send("GET", `${service.baseUrl}/endpoints/${id}`, { key });
  const idle = async () =>
    at((await send("GET", `${service.serverlessUrl}/v2/${id}/health`, { key })).json, "workers", "idle");
  /** Resident memory, MiB. */
  const memory: Record<string, number> = {};
  const measure = async (name: string): Promise<void> => {
    await pause(3000);
    memory[name] = Math.round(await residentMemory(service.pid()));
  };
  await measure("0");
  for (const part of [0.25, 0.5, 0.75, 1]) {
    const count = Math.round(workers * part);
    await patch(`endpoints/${id}`, { workersMin: count, workersMax: count });
    await expect.poll(idle, { timeout: 300_000, interval: 500 }).toBe(count);
    await measure(String(count));
  }
  const before = await processorTime(service.pid());
  await pause(idleTime * 1000);
  const idleCpu = ((await processorTime(service.pid())) - before) / idleTime;
  for (const version of [1, 2, 3]) {
    const { started } = node;
    await patch(`templates/${at(json, "templateId")}`, { env: { VERSION: String(version) } });
    await expect
      .poll(() => node.started - started, { timeout: 600_000, interval: 500 })
      .toBeGreaterThanOrEqual(workers);
    await expect.poll(idle, { timeout: 60_000, interval: 500 }).toBe(workers);
    await measure(`change ${version}`);
  }
  await patch(`endpoints/${id}`, { workersMin: 0, workersMax: 0 });
  await expect.poll(idle, { timeout: 300_000, interval: 500 }).toBe(0);
  await measure("0 again");
  expect((memory[String(workers)] ?? Infinity) - (memory["0"] ?? 0)).toBeLessThan(workers);
  console.info(JSON.stringify({ workers, memoryMiB: memory, idleProcessorMsPerSecond: idleCpu }));
}, 3_600_000);

import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { residentMemory } from "../../bench/processes";
import { createEndpoint } from "../docker/rig";
import { serviceFolder } from "../support/folders";
import { at, send, stringAt } from "../support/raw-http";
import { useCountingProxy } from "./counting-proxy";
import { useRecorder } from "./recorder";
import { namesIn, programsWith, useCluster, useNamespace } from "./rig";
import { useServiceProcess } from "./service-process";

const workers = 20;
/** Number of rolling changes; ROLLING_CHANGES=n overrides it. */
const changes = Number(process.env["ROLLING_CHANGES"] ?? 2);
/** Time without jobs in which requests are counted, s; IDLE_SECONDS=n overrides it. */
const idleTime = Number(process.env["IDLE_SECONDS"] ?? 20);

/** Seconds since a time of the monotonic clock. */
const since = (begin: number, end = performance.now()): number => Math.round((end - begin) / 100) / 10;

test(`${workers} workers start from 0, take few requests to the API server, and ${changes} rolling changes lose no job`, async (context) => {
  const cluster = await useCluster(context);
  const namespace = await useNamespace(cluster.admin);
  // Until its service account exists, which takes long after a kill of the API server, pods are created again and again.
  const accounts = () => namesIn(cluster.admin, namespace, "serviceaccounts");
  await expect.poll(accounts, { timeout: 120_000 }).toContain("default");
  const proxy = await useCountingProxy(cluster.admin);
  const { kubeconfig } = proxy;
  const service = await useServiceProcess(context, { ...cluster, kubeconfig, namespace, dataFolder: serviceFolder() });
  const key = service.apiKey;
  const request = async (method: string, path: string, json?: object) => {
    const response = await send(method, path, { key, json });
    if (response.status !== 200) throw new Error(`${response.request} returned ${response.status} ${response.text}`);
    return response;
  };
  const id = await createEndpoint(service, {
    image: cluster.image,
    env: { PINGS: "1", VERSION: "0" },
    endpoint: { workersMax: 0, scalerType: "REQUEST_COUNT", scalerValue: 1, idleTimeout: 3600 },
  });
  const endpoint = `${service.baseUrl}/endpoints/${id}`;
  const templateId = stringAt(await request("GET", endpoint), "templateId");
  const jobs = `${service.serverlessUrl}/v2/${id}`;
  const health = async () => (await request("GET", `${jobs}/health`)).json;
  await expect.poll(proxy.watches).toBe(1);
  const start = proxy.take();
  const figures: Record<string, unknown> = { start };
  // docs/guides/run-on-your-cluster.md states the number.
  expect(Object.values(start).reduce((sum, count) => sum + count)).toBe(16);

  // The first jobs end once all workers run one.
  const gate = await useRecorder(cluster.address, workers);
  for (let job = 0; job < workers; job++)
    await request("POST", `${jobs}/run`, { input: { do: "token", ms: 0, url: gate.url } });
  const begin = performance.now();
  await request("PATCH", endpoint, { workersMax: workers });
  await expect.poll(() => gate.begins.length, { timeout: 150_000 }).toBe(workers);
  figures["firstJob"] = since(begin, gate.begins[0]);
  figures["lastJob"] = since(begin, gate.begins.at(-1));
  await expect.poll(health).toMatchObject({ jobs: { completed: workers }, workers: { idle: workers } });
  await pause(2000);
  const starts = proxy.take();
  figures["requestsOfStarts"] = starts;
  figures["connections"] = proxy.connections();
  for (const kind of ["POST pods", "POST secrets", "GET pods/NAME", "PATCH pods/NAME", "GET pods/NAME/log"])
    expect(starts[kind], kind).toBe(workers);
  // Each log has a connection, and the other calls share some.
  expect(proxy.connections()).toBeLessThan(3 * workers);

  await pause(idleTime * 1000);
  const idle = proxy.take();
  figures["requestsWhileIdle"] = { seconds: idleTime, ...idle };
  // Only the watch is renewed.
  expect(Object.keys(idle).filter((kind) => !["GET pods", "WATCH pods"].includes(kind))).toEqual([]);
  figures["memoryMiB"] = Math.round(await residentMemory(service.pid()));

  const recorder = await useRecorder(cluster.address);
  let isOver = false;
  const accepted = new Set<string>();
  const submission = (async () => {
    while (!isOver) {
      const input = { do: "token", ms: 300, url: recorder.url };
      const response = await request("POST", `${jobs}/run`, { input, webhook: recorder.url });
      accepted.add(stringAt(response, "id"));
      await pause(50);
    }
  })();
  const rolling = performance.now();
  for (let version = 1; version <= changes; version++) {
    const env = { PINGS: "1", VERSION: String(version) };
    await request("PATCH", `${service.baseUrl}/templates/${templateId}`, { env });
    const isRolledOut = async (): Promise<boolean> => {
      const { json } = await request("GET", `${service.serverlessUrl}/v2/serverless/${id}/releases`);
      return at(json, "endpointVersion") === version + 1 && at(json, "rollout", "inProgress") === false;
    };
    await expect.poll(isRolledOut, { timeout: 150_000, interval: 200 }).toBe(true);
  }
  figures["secondsPerChange"] = since(rolling) / changes;
  isOver = true;
  await submission;
  await expect.poll(() => recorder.webhooks.size, { timeout: 60_000 }).toBe(accepted.size);
  const results = [...recorder.webhooks.values()];
  figures["jobsOfChanges"] = accepted.size;
  figures["requestsOfChanges"] = proxy.take();
  figures["memoryAfterChangesMiB"] = Math.round(await residentMemory(service.pid()));
  console.info(JSON.stringify(figures));
  expect(results.flat().filter(({ status }) => status !== "COMPLETED")).toEqual([]);
  expect(results.filter(({ length }) => length !== 1)).toEqual([]);
  // The kubelet ends the last programs a moment after the change.
  await expect.poll(() => programsWith(`VERSION=${changes - 1}`)).toEqual([]);
  await service.end("SIGTERM");
  expect(await programsWith(`RUNPOD_ENDPOINT_ID=${id}`)).toEqual([]);
}, 600_000);

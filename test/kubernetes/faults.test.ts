import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createClients } from "serverless-compute-api";
import { expect, onTestFinished, test } from "vitest";
import { restoreDataFolder, snapshotDataFolder } from "../../service/snapshots";
import { createEndpoint } from "../docker/rig";
import { scratchFolder, serviceFolder } from "../support/folders";
import { send, stringAt } from "../support/raw-http";
import { useCountingProxy } from "./counting-proxy";
import { namesIn, podList, startRig, useCluster, useNamespace } from "./rig";
import { useServiceProcess } from "./service-process";

test("without the API server running jobs complete, no pod is deleted or doubled, and the watch resumes", async (context) => {
  const rig = await startRig(context);
  const id = await rig.endpoint();
  const first = await rig.clients.jobs.runsync(id, { input: { do: "echo", text: "before" } });
  expect(first.status).toBe("COMPLETED");
  const [pod] = await rig.pods();
  await rig.send("apiserver", "STOP");
  onTestFinished(() => rig.send("apiserver", "CONT").then(() => undefined));
  expect(await rig.clients.jobs.runsync(id, { input: { do: "sleep", ms: 3000 } })).toMatchObject({
    status: "COMPLETED",
  });
  await rig.send("apiserver", "KILL");
  expect(await rig.clients.jobs.runsync(id, { input: { do: "echo", text: "away" } })).toMatchObject({
    status: "COMPLETED",
  });
  await expect
    .poll(() => rig.pods().catch(() => undefined))
    .toMatchObject([{ metadata: { name: pod?.metadata.name } }]);
  await expect
    .poll(() => readFile(join(rig.dataFolder, "service.log"), "utf8"))
    .toMatch(/the Kubernetes API at https:\S+ closed the connection/);
  // The watch has resumed: the end of the pod is seen, and a new one starts.
  const path = `/api/v1/namespaces/${rig.namespace}/pods/${pod?.metadata.name}`;
  await rig.admin.call("DELETE", path, { body: { gracePeriodSeconds: 0 } });
  await expect.poll(rig.pods).toEqual([]);
  // Until then, the program may still take a job.
  const after = () => rig.clients.jobs.runsync(id, { input: { do: "echo", text: "after" } }, { wait: 60_000 });
  await expect
    .poll(after, { timeout: 60_000 })
    .toMatchObject({ status: "COMPLETED", workerId: expect.not.stringMatching(first.workerId ?? "") });
});

test("while the API server does not respond, a job waits with this reason, and runs once it responds", async (context) => {
  const rig = await startRig(context);
  await rig.send("apiserver", "STOP");
  onTestFinished(() => rig.send("apiserver", "CONT").then(() => undefined));
  const id = await rig.endpoint();
  const { id: jobId } = await rig.clients.jobs.run(id, { input: { do: "echo", text: "late" } });
  await rig.jobWaits(id, /^the Kubernetes API at https:\S+ does not respond: no response in time$/, {
    timeout: 90_000,
  });
  await rig.send("apiserver", "CONT");
  await expect.poll(() => rig.clients.jobs.status(id, jobId)).toMatchObject({ status: "COMPLETED" });
});

test("a job of a pod that is deleted runs again on another pod and ends once", async (context) => {
  const rig = await startRig(context);
  const id = await rig.endpoint();
  const { id: jobId } = await rig.clients.jobs.run(id, { input: { do: "sleep", ms: 4000 } });
  await expect.poll(() => rig.clients.jobs.status(id, jobId)).toMatchObject({ status: "IN_PROGRESS" });
  const [pod] = await rig.pods();
  const path = `/api/v1/namespaces/${rig.namespace}/pods/${pod?.metadata.name}`;
  await rig.admin.call("DELETE", path, { body: { gracePeriodSeconds: 0 } });
  await expect.poll(() => rig.clients.jobs.status(id, jobId)).toMatchObject({ status: "COMPLETED" });
  expect(await rig.log(id)).toContain("was deleted from the cluster");
});

test("a pod that is created and deleted while no watch reports it is replaced by another", async (context) => {
  const cluster = await useCluster(context);
  const namespace = await useNamespace(cluster.admin);
  const proxy = await useCountingProxy(cluster.admin);
  const { kubeconfig } = proxy;
  const service = await useServiceProcess(context, { ...cluster, kubeconfig, namespace, dataFolder: serviceFolder() });
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const pods = async () => podList.parse(await cluster.admin.call("GET", path)).items;
  proxy.endWatches(true);
  await expect.poll(proxy.watches).toBe(0);
  await expect.poll(proxy.watches).toBe(1);
  // Its program never runs, so it sends no request.
  await createEndpoint(service, { image: "localhost/missing:1", endpoint: { workersMin: 1, workersMax: 1 } });
  const name = expect.any(String);
  await expect.poll(pods).toMatchObject([{ metadata: { name }, spec: { nodeName: name } }]);
  const [first] = await pods();
  await cluster.admin.call("DELETE", `${path}/${first?.metadata.name}`, { body: { gracePeriodSeconds: 0 } });
  await expect.poll(pods).toEqual([]);
  proxy.endWatches(false);
  await expect.poll(pods).toMatchObject([{ metadata: { name } }]);
});

test("after a kill of the service, a pod continues its job and its log for the next service, and orphans are deleted", async (context) => {
  const cluster = await useCluster(context);
  const namespace = await useNamespace(cluster.admin);
  const dataFolder = serviceFolder();
  const service = await useServiceProcess(context, { ...cluster, namespace, dataFolder });
  const pods = async () => podList.parse(await cluster.admin.call("GET", `/api/v1/namespaces/${namespace}/pods`)).items;
  const id = await createEndpoint(service, { image: cluster.image });
  const clients = createClients(service);
  const { id: jobId } = await clients.jobs.run(id, { input: { do: "sleep", ms: 8000 } });
  await expect.poll(() => clients.jobs.status(id, jobId)).toMatchObject({ status: "IN_PROGRESS" });
  // The node may report a program after its first job, and a service continues only pods that are reported to run.
  await expect.poll(pods).toMatchObject([{ status: { containerStatuses: [{ state: { running: {} } }] } }]);
  await clients.close();
  await service.end("SIGKILL");
  const [pod, ...others] = await pods();
  expect(others).toEqual([]);
  // A pod of this service that no worker is known for.
  const orphan = {
    name: "orphan",
    labels: { ...pod?.metadata.labels, "serverless-compute/worker": "local-000000000000" },
  };
  const containers = [{ name: "worker", image: cluster.image, command: ["node", "-e", "setInterval(() => 0, 1000)"] }];
  const body = { metadata: orphan, spec: { containers, restartPolicy: "Never", terminationGracePeriodSeconds: 0 } };
  await cluster.admin.call("POST", `/api/v1/namespaces/${namespace}/pods`, { body });
  await expect
    .poll(pods)
    .toContainEqual(expect.objectContaining({ metadata: expect.objectContaining({ name: "orphan" }) }));
  await service.start();
  const again = createClients(service);
  onTestFinished(() => again.close());
  await expect
    .poll(() => again.jobs.status(id, jobId))
    .toMatchObject({
      status: "COMPLETED",
      workerId: pod?.metadata.labels["serverless-compute/worker"],
      output: { workerId: pod?.metadata.labels["serverless-compute/worker"] },
    });
  await expect.poll(async () => (await pods()).map(({ metadata }) => metadata.name)).not.toContain("orphan");
  expect(await again.jobs.runsync(id, { input: { do: "log", text: "a line after the kill" } })).toMatchObject({
    workerId: pod?.metadata.labels["serverless-compute/worker"],
  });
  await expect.poll(() => readFile(join(dataFolder, "logs", `${id}.log`), "utf8")).toContain("a line after the kill");
  await service.end("SIGTERM");
  await expect.poll(pods).toEqual([]);
});

test("after a kill of the service, a pod with an outdated configuration completes its job, and is then replaced", async (context) => {
  const cluster = await useCluster(context);
  const namespace = await useNamespace(cluster.admin);
  const service = await useServiceProcess(context, { ...cluster, namespace, dataFolder: serviceFolder() });
  const pods = async () => podList.parse(await cluster.admin.call("GET", `/api/v1/namespaces/${namespace}/pods`)).items;
  const id = await createEndpoint(service, { image: cluster.image, endpoint: { workersMin: 1, workersMax: 1 } });
  const clients = createClients(service);
  const { id: jobId } = await clients.jobs.run(id, { input: { do: "sleep", ms: 10_000 } });
  await expect.poll(() => clients.jobs.status(id, jobId)).toMatchObject({ status: "IN_PROGRESS" });
  await expect.poll(pods).toMatchObject([{ status: { containerStatuses: [{ state: { running: {} } }] } }]);
  const [pod] = await pods();
  const workerId = pod?.metadata.labels["serverless-compute/worker"];
  const request = (method: string, path: string, json?: object) =>
    send(method, `${service.baseUrl}/${path}`, { key: service.apiKey, json });
  const templateId = stringAt(await request("GET", `endpoints/${id}`), "templateId");
  expect(await request("PATCH", `templates/${templateId}`, { env: { VERSION: "2" } })).toMatchObject({ status: 200 });
  await clients.close();
  await service.end("SIGKILL");
  await service.start();
  const again = createClients(service);
  onTestFinished(() => again.close());
  await expect.poll(() => again.jobs.status(id, jobId)).toMatchObject({ status: "COMPLETED", workerId });
  expect(await again.jobs.runsync(id, { input: { do: "env" } }, { wait: 60_000 })).toMatchObject({
    status: "COMPLETED",
    output: { VERSION: "2" },
  });
});

test("a pod that is deleted before its node, which is lost, has started it is replaced", async (context) => {
  const rig = await startRig(context);
  await rig.send("kubelet", "STOP");
  onTestFinished(() => rig.send("kubelet", "CONT").then(() => undefined));
  const id = await rig.endpoint();
  const { id: jobId } = await rig.clients.jobs.run(id, { input: { do: "echo", text: "late" } });
  await expect.poll(rig.pods).toMatchObject([{ spec: { nodeName: "127.0.0.1" } }]);
  const [pod] = await rig.pods();
  // As Kubernetes does after 5 minutes.
  await rig.admin.call("DELETE", `/api/v1/namespaces/${rig.namespace}/pods/${pod?.metadata.name}`);
  await expect
    .poll(async () => (await rig.pods()).map(({ metadata }) => metadata.name))
    .toEqual([expect.not.stringMatching(pod?.metadata.name ?? "")]);
  await rig.send("kubelet", "CONT");
  await expect
    .poll(() => rig.clients.jobs.status(id, jobId), { timeout: 60_000 })
    .toMatchObject({ status: "COMPLETED" });
});

test("after a restore, pods of endpoints that the snapshot lacks are deleted, and others continue", async (context) => {
  const cluster = await useCluster(context);
  const namespace = await useNamespace(cluster.admin);
  const [dataFolder, snapshot] = [serviceFolder(), join(scratchFolder(), "snapshot")];
  const service = await useServiceProcess(context, { ...cluster, namespace, dataFolder });
  const endpoint = { workersMin: 1, workersMax: 1 };
  const kept = await createEndpoint(service, { image: cluster.image, endpoint });
  await service.end("SIGTERM");
  snapshotDataFolder(dataFolder, snapshot);
  await service.start();
  await createEndpoint(service, { image: cluster.image, endpoint });
  const pods = async () => podList.parse(await cluster.admin.call("GET", `/api/v1/namespaces/${namespace}/pods`)).items;
  const isRunning = { status: { containerStatuses: [{ state: { running: {} } }] } };
  await expect.poll(pods).toMatchObject([isRunning, isRunning]);
  const before = await pods();
  await service.end("SIGKILL");
  restoreDataFolder(dataFolder, snapshot);
  await service.start();
  const ofKept = before.filter(({ metadata }) => metadata.labels["serverless-compute/endpoint"] === kept);
  const names = ofKept.map(({ metadata }) => metadata.name);
  await expect.poll(async () => (await pods()).map(({ metadata }) => metadata.name)).toEqual(names);
  const clients = createClients(service);
  onTestFinished(() => clients.close());
  expect(await clients.jobs.runsync(kept, { input: { do: "echo", text: "again" } })).toMatchObject({
    status: "COMPLETED",
  });
});

test("the log of a worker continues after a restart of its node's kubelet", async (context) => {
  const rig = await startRig(context);
  const id = await rig.endpoint({ endpoint: { workersMin: 1, workersMax: 1 } });
  const print = async (line: string) => {
    await rig.clients.jobs.runsync(id, { input: { do: "log", text: line } });
    await expect.poll(() => rig.log(id)).toContain(line);
  };
  await print("before the restart");
  await rig.send("kubelet", "KILL");
  for (const line of ["during the restart", "after the restart"]) await print(line);
  expect((await rig.log(id)).match(/before the restart/g)).toHaveLength(1);
});

test("a service that is stopped while the API server restarts leaves no pod", async (context) => {
  const cluster = await useCluster(context);
  const namespace = await useNamespace(cluster.admin);
  const service = await useServiceProcess(context, { ...cluster, namespace, dataFolder: serviceFolder() });
  const id = await createEndpoint(service, { image: cluster.image, endpoint: { workersMin: 2, workersMax: 2 } });
  const clients = createClients(service);
  await expect.poll(() => clients.jobs.health(id)).toMatchObject({ workers: { idle: 2 } });
  await clients.close();
  await cluster.send("apiserver", "KILL");
  await service.end("SIGTERM");
  expect(await namesIn(cluster.admin, namespace, "pods")).toEqual([]);
});

test("in a new namespace, workers wait until Kubernetes has created its service account", async (context) => {
  const { send } = await useCluster(context);
  await send("controllers", "STOP");
  onTestFinished(() => send("controllers", "CONT").then(() => undefined));
  const rig = await startRig(context);
  const id = await rig.endpoint();
  const { id: jobId } = await rig.clients.jobs.run(id, { input: { do: "echo", text: "late" } });
  await rig.jobWaits(id, /^pods .* error looking up service account/);
  await send("controllers", "CONT");
  await expect.poll(() => rig.clients.jobs.status(id, jobId)).toMatchObject({ status: "COMPLETED" });
});

test("jobs of a lost node run again once its workers are silent, and end once", async (context) => {
  const rig = await startRig(context, { timings: { pingSilence: 8000, secondLook: 500 } });
  const id = await rig.endpoint({ env: { PINGS: "1" } });
  const { id: jobId } = await rig.clients.jobs.run(id, { input: { do: "sleep", ms: 6000 } });
  await expect.poll(() => rig.clients.jobs.status(id, jobId)).toMatchObject({ status: "IN_PROGRESS" });
  await expect.poll(rig.pods).toMatchObject([{ status: { phase: "Running" } }]);
  const [pod] = await rig.pods();
  // The kubelet stops, and the program is frozen: the API server continues to report the pod as running.
  await rig.send("kubelet", "STOP");
  onTestFinished(() => rig.send("kubelet", "CONT").then(() => undefined));
  await rig.freeze(String(pod?.metadata.labels["serverless-compute/worker"]), "SIGSTOP");
  await expect
    .poll(async () => (await rig.pods()).map(({ metadata }) => metadata.name), { timeout: 60_000 })
    .not.toContain(pod?.metadata.name);
  await rig.send("kubelet", "CONT");
  await expect
    .poll(() => rig.clients.jobs.status(id, jobId), { timeout: 60_000 })
    .toMatchObject({ status: "COMPLETED", retries: 1 });
});

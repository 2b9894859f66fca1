import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { kubernetesShape } from "../../service/workers/runtimes/pod/settings";
import { claimBody, gate, objectName, openGate } from "../../service/workers/runtimes/pod/spec";
import { httpServerEndpoint } from "../support/http-load";
import { send, stringAt } from "../support/raw-http";
import { createStorage, patch, startRig, useCluster } from "./rig";

test("a job runs in a pod with the template's environment, whose values are only in its Secret, and its output in the log", async (context) => {
  const rig = await startRig(context);
  const odd = { "a/b c": "1", "..": "2", ["x".repeat(300)]: "3" };
  const id = await rig.endpoint({ env: { ...odd, MODEL: "plain-value-7" } });
  const record = await rig.clients.jobs.runsync(id, { input: { do: "log", text: "a line of the pod" } });
  expect(record).toMatchObject({ status: "COMPLETED" });
  const env = await rig.clients.jobs.runsync(id, { input: { do: "env" } });
  expect(env.output).toMatchObject({ ...odd, MODEL: "plain-value-7", RUNPOD_ENDPOINT_ID: id });
  // The kubelet reports the phase a moment after the worker has started, so a fast worker's first job can end before.
  await expect.poll(rig.pods).toMatchObject([{ status: { phase: "Running" }, spec: { nodeName: "127.0.0.1" } }]);
  const [pod] = await rig.pods();
  expect(JSON.stringify(pod)).not.toContain("plain-value-7");
  const { RUNPOD_AI_API_KEY: token = "" } = z.record(z.string(), z.string()).parse(env.output);
  expect(JSON.stringify(pod)).not.toContain(token);
  expect(pod?.spec).toMatchObject({ automountServiceAccountToken: false, restartPolicy: "Never" });
  await expect.poll(() => rig.log(id)).toContain("a line of the pod");
  const status = () => send("GET", `${rig.service.url}/local/status`, { key: rig.service.apiKey });
  await expect
    .poll(async () => (await status()).json)
    .toMatchObject({
      endpoints: [{ running: [{ location: { pod: pod?.metadata.name, node: "127.0.0.1", phase: "Running" } }] }],
    });
  await rig.clients.management.deleteEndpoint(id);
  await expect.poll(rig.pods).toEqual([]);
  await expect.poll(() => rig.names("secrets")).toEqual([]);
});

test("requests to a load balancer reach the pod's server at the pod's address", async (context) => {
  const { service, image } = await startRig(context, { timings: { healthInterval: 50 } });
  const created = await send("POST", `${service.url}/v2/serverless`, {
    key: service.apiKey,
    json: httpServerEndpoint(image, { min: 0, max: 1 }),
  });
  const base = stringAt(created, "requestUrls", "base");
  expect(await send("GET", `${base}/?ms=1`, { key: service.apiKey })).toMatchObject({ status: 200 });
});

test("a volume is a claim that workers share, that outlives the service, and that is deleted with the volume", async (context) => {
  const { admin } = await useCluster(context);
  const { storageClass } = await createStorage(admin, 1);
  const rig = await startRig(context, { kubernetes: { storageClass } });
  const volume = await rig.clients.management.createNetworkVolume({
    name: "models",
    size: 10,
    dataCenterId: "EU-RO-1",
  });
  const id = await rig.endpoint({ endpoint: { networkVolumeId: volume.id } });
  const write = { do: "write", path: "/runpod-volume/weights", text: "kept" };
  expect(await rig.clients.jobs.runsync(id, { input: write })).toMatchObject({ status: "COMPLETED" });
  const read = { do: "read", path: "/runpod-volume/weights" };
  expect(await rig.clients.jobs.runsync(id, { input: read })).toMatchObject({ output: "kept" });
  await rig.clients.management.deleteEndpoint(id);
  await expect.poll(rig.pods).toEqual([]);
  expect(await rig.names("persistentvolumeclaims")).toEqual([`serverless-compute-${volume.id}`]);
  await rig.clients.management.deleteNetworkVolume(volume.id);
  await expect.poll(() => rig.names("persistentvolumeclaims")).toEqual([]);
});

test("a claim of another service remains if a volume with its id is deleted", async (context) => {
  const { admin } = await useCluster(context);
  const rig = await startRig(context);
  const { management } = rig.clients;
  const volume = await management.createNetworkVolume({ name: "models", size: 10, dataCenterId: "EU-RO-1" });
  const path = `/api/v1/namespaces/${rig.namespace}/persistentvolumeclaims`;
  await admin.call("POST", path, { body: claimBody(volume.id, 10, "another", kubernetesShape.parse({})) });
  await management.deleteNetworkVolume(volume.id);
  const reason = `the claim ${objectName(volume.id)} belongs to another service`;
  await expect.poll(() => readFile(join(rig.dataFolder, "service.log"), "utf8")).toContain(reason);
  expect(await rig.names("persistentvolumeclaims")).toEqual([objectName(volume.id)]);
});

test("a larger volume enlarges its claim for the next worker, if its storage class allows it", async (context) => {
  const { admin } = await useCluster(context);
  const { storageClass } = await createStorage(admin, 1);
  const allow = (allowVolumeExpansion: boolean) =>
    patch(admin, `/apis/storage.k8s.io/v1/storageclasses/${storageClass}`, { allowVolumeExpansion });
  const rig = await startRig(context, { kubernetes: { storageClass } });
  const { management, jobs } = rig.clients;
  const volume = await management.createNetworkVolume({ name: "models", size: 10, dataCenterId: "EU-RO-1" });
  const claim = `/api/v1/namespaces/${rig.namespace}/persistentvolumeclaims/${objectName(volume.id)}`;
  const run = async () => {
    const id = await rig.endpoint({ endpoint: { networkVolumeId: volume.id } });
    expect(await jobs.runsync(id, { input: { do: "env" } })).toMatchObject({ status: "COMPLETED" });
    return rig.log(id);
  };
  const size = async (storage: string) =>
    expect(await admin.call("GET", claim)).toMatchObject({ spec: { resources: { requests: { storage } } } });
  await run();
  await allow(true);
  await management.updateNetworkVolume(volume.id, { size: 20 });
  await run();
  await size("20Gi");
  await allow(false);
  await management.updateNetworkVolume(volume.id, { size: 30 });
  expect(await run()).toMatch(/the claim \S+ keeps its size: .*resize/);
  await size("20Gi");
});

test("a claim that is deleted while a worker waits for room is created again", async (context) => {
  const { admin } = await useCluster(context);
  const { storageClass } = await createStorage(admin, 2);
  const rig = await startRig(context, { kubernetes: { storageClass } });
  const volume = await rig.clients.management.createNetworkVolume({
    name: "models",
    size: 10,
    dataCenterId: "EU-RO-1",
  });
  const id = await rig.endpoint({ endpoint: { networkVolumeId: volume.id, gpuCount: 40 } });
  const { id: jobId } = await rig.clients.jobs.run(id, { input: { do: "files", path: "/runpod-volume" } });
  await rig.jobWaits(id, "1 Insufficient nvidia.com/gpu");
  await admin.call("DELETE", `/api/v1/namespaces/${rig.namespace}/persistentvolumeclaims/${objectName(volume.id)}`);
  await expect.poll(() => rig.names("persistentvolumeclaims")).toEqual([]);
  await rig.setGpus(60);
  onTestFinished(() => rig.setGpus(30));
  await expect
    .poll(() => rig.clients.jobs.status(id, jobId), { timeout: 60_000 })
    .toMatchObject({ status: "COMPLETED" });
});

test("the gate of a pod is removed repeatably, and no gate of another program", async (context) => {
  const rig = await startRig(context);
  const path = `/api/v1/namespaces/${rig.namespace}/pods`;
  const schedulingGates = [{ name: gate }, { name: "queue.test/admission" }];
  const spec = { schedulingGates, containers: [{ name: "worker", image: rig.image }] };
  await rig.admin.call("POST", path, { body: { metadata: { name: "gated" }, spec } });
  const headers = { "content-type": "application/strategic-merge-patch+json" };
  for (const _attempt of [1, 2])
    expect(await rig.admin.call("PATCH", `${path}/gated`, { body: openGate, headers })).toMatchObject({
      spec: { schedulingGates: [{ name: "queue.test/admission" }] },
    });
});

test("two services in one namespace leave each other's pods alone", async (context) => {
  const first = await startRig(context);
  const second = await startRig(context, { kubernetes: { namespace: first.namespace } });
  const ids = [await first.endpoint(), await second.endpoint()];
  const long = first.clients.jobs.runsync(ids[0] ?? "", { input: { do: "sleep", ms: 4000 } });
  expect(await second.clients.jobs.runsync(ids[1] ?? "", { input: { do: "echo", text: "b" } })).toMatchObject({
    status: "COMPLETED",
  });
  await second.service.stop(0);
  expect(await long).toMatchObject({ status: "COMPLETED" });
  expect(await first.pods()).toHaveLength(1);
});

import type { ServiceOptions } from "serverless-compute-local";
import { expect, onTestFinished, test } from "vitest";
import type { Cluster } from "../../service/workers/runtimes/pod/cluster";
import { createStorage, startRig, useCluster } from "./rig";

const zoneLabel = "topology.kubernetes.io/zone";
const zones = { "EU-RO-1": "zone-a", "US-KS-2": "zone-b" };

/** Puts the node of the cluster into a zone, until the test's end. */
async function useZone(admin: Cluster, zone: string): Promise<void> {
  const label = async (value: string | null): Promise<void> => {
    const body = { metadata: { labels: { [zoneLabel]: value } } };
    await admin.call("PATCH", "/api/v1/nodes/127.0.0.1", {
      body,
      headers: { "content-type": "application/merge-patch+json" },
    });
  };
  await label(zone);
  onTestFinished(() => label(null));
}

const inZones = (...values: string[]) => ({ key: zoneLabel, operator: "In", values });
const ofType = { key: "nvidia.com/gpu.product", operator: "In", values: ["NVIDIA-L4"] };

/** Placements of endpoints, and the labels that their pods require of a node in zone-a. */
const placements: { name: string; endpoint: object; labels: object[]; settings?: ServiceOptions["kubernetes"] }[] = [
  { name: "no data centre", endpoint: {}, labels: [] },
  { name: "a data centre with a zone", endpoint: { dataCenterIds: ["EU-RO-1"] }, labels: [inZones("zone-a")] },
  {
    name: "two data centres with zones",
    endpoint: { dataCenterIds: ["EU-RO-1", "US-KS-2"] },
    labels: [inZones("zone-a", "zone-b")],
  },
  { name: "a data centre without a zone", endpoint: { dataCenterIds: ["EU-SE-1"] }, labels: [] },
  {
    name: "a GPU type in a data centre",
    endpoint: { dataCenterIds: ["EU-RO-1"], gpuTypeIds: ["NVIDIA L4"] },
    labels: [ofType, inZones("zone-a")],
  },
  {
    name: "a GPU type with tolerations, but without labels of its own",
    endpoint: { gpuTypeIds: ["NVIDIA L4"] },
    labels: [ofType],
    settings: { gpuNodes: { "NVIDIA L4": { tolerations: [{ key: "gpu", operator: "Exists" }] } } },
  },
  {
    name: "a GPU type whose nodes have no labels",
    endpoint: { gpuTypeIds: ["NVIDIA A40"] },
    labels: [],
    settings: { gpuNodes: { "NVIDIA A40": { nodeSelector: {} } } },
  },
];

test.for(placements)(
  "a worker of $name runs on a node with its labels",
  async ({ endpoint, labels, settings }, context) => {
    const { admin } = await useCluster(context);
    await useZone(admin, "zone-a");
    const rig = await startRig(context, { kubernetes: { zones, ...settings } });
    const id = await rig.endpoint({ endpoint });
    expect(await rig.clients.jobs.runsync(id, { input: { do: "env" } })).toMatchObject({ status: "COMPLETED" });
    const terms = [{ matchExpressions: labels }];
    const affinity = {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
    };
    const [pod] = await rig.pods();
    expect(pod?.spec["affinity"]).toEqual(labels.length === 0 ? undefined : affinity);
  },
);

test("a worker with a volume runs in the zone of the volume's data centre", async (context) => {
  const { admin } = await useCluster(context);
  await useZone(admin, "zone-a");
  const { storageClass } = await createStorage(admin, 1);
  const rig = await startRig(context, { kubernetes: { zones, storageClass } });
  const { createNetworkVolume } = rig.clients.management;
  const { id: networkVolumeId } = await createNetworkVolume({ name: "models", size: 10, dataCenterId: "EU-RO-1" });
  const id = await rig.endpoint({ endpoint: { networkVolumeId } });
  expect(await rig.clients.jobs.runsync(id, { input: { do: "env" } })).toMatchObject({ status: "COMPLETED" });
  expect(JSON.stringify(await rig.pods())).toContain(JSON.stringify(inZones("zone-a")));
});

/** Endpoints without a node in zone-a, and the text about the nodes that they require. */
const absences = [
  {
    endpoint: { dataCenterIds: ["US-KS-2"], gpuTypeIds: ["NVIDIA L4"] },
    text: "nodes of NVIDIA L4 (labels: kubernetes.gpuNodes) in US-KS-2 (zones: kubernetes.zones)",
  },
  {
    endpoint: { dataCenterIds: ["US-KS-2", "EU-SE-1"], computeType: "CPU", cpuFlavorIds: ["cpu3c"], vcpuCount: 2 },
    text: "nodes in US-KS-2 (zones: kubernetes.zones)",
  },
];

test.for(absences)("a job waits for $text, and runs once there is one", async ({ endpoint, text }, context) => {
  const { admin } = await useCluster(context);
  await useZone(admin, "zone-a");
  const rig = await startRig(context, { kubernetes: { zones } });
  const id = await rig.endpoint({ endpoint });
  const { id: jobId } = await rig.clients.jobs.run(id, { input: { do: "env" } });
  const escaped = text.replaceAll(/[().]/g, "\\$&");
  const reason = `^no node of the cluster has room for \\S+: 0/1 nodes are available: 1 node\\(s\\) didn't match Pod's node affinity/selector; the endpoint requires ${escaped}$`;
  await rig.jobWaits(id, reason, { workers: { throttled: 1 } });
  await useZone(admin, "zone-b");
  await expect.poll(() => rig.clients.jobs.status(id, jobId)).toMatchObject({ status: "COMPLETED" });
});

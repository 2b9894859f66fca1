import { createClients } from "serverless-compute-api";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Properties } from "../../provider/lifecycle/contract";
import { kinds } from "../../provider/resources";
import { json, startFaultyServer } from "../support/faulty-server";
import { useLifecycleBench } from "../support/lifecycle-bench";

const bench = await useLifecycleBench();

const container = {
  image: "acme/echo:1",
  args: "",
  entrypoint: [],
  cmd: [],
  disk: 50,
  env: {},
  ports: [],
  registry: null,
};
const template = {
  ...{ id: "t1", name: "chat-dev", ...container, mounts: {}, serverless: true, public: false, category: "NVIDIA" },
  ...{ startSsh: true, startJupyter: true, allowedCudaVersions: [] },
};
const endpoint = {
  ...{ id: "e1", name: "chat-dev", type: "QUEUE", ...container, env: { SERVERLESS_COMPUTE_TEMPLATE_ID: "t1" } },
  gpu: { pools: ["ADA_24"], excludedTypes: [], count: 1, allowedCudaVersions: [], minCudaVersion: null },
  ...{ workers: { min: 0, max: 3, idleTimeout: 5 }, scaling: { type: "QUEUE_DELAY", queueDelay: 4 } },
  ...{ dataCenterIds: [], networkVolumes: [], timeout: 600_000, flashboot: "OFF", createdAt: "2026-11-01T00:00:00Z" },
};
const { gpu: _gpu, ...cpuEndpoint } = { ...endpoint, cpu: [{ id: "cpu3c", vcpuCount: 2, memory: 4 }] };
const volume = { id: "v1", name: "models-dev", size: 10, dataCenter: "EU-RO-1", type: "STANDARD" };
const gpus = [
  { id: "NVIDIA L4", name: "L4", pool: "ADA_24" },
  { id: "NVIDIA A40", name: "A40", pool: "AMPERE_48" },
];
const price = { secure: 1, community: 1 };
const catalog = gpus.map((one) => ({
  ...{ ...one, manufacturer: "NVIDIA", memory: 24, secure: true, community: true, price },
  maxCount: { secure: 8, community: 8 },
}));

/** A property, its kind, and the records of the service with each legal value. */
type Row = [property: string, kind: "Template" | "ServerlessEndpoint" | "NetworkVolume", values: object[]];

const declared: Record<Row[1], Properties> = {
  Template: { name: "chat-dev", imageName: "acme/echo:1" },
  ServerlessEndpoint: { name: "chat-dev", templateId: "t1" },
  NetworkVolume: { name: "models-dev", size: 10, dataCenterId: "EU-RO-1" },
};

const gpuValues = (values: object[]): object[] =>
  values.map((one) => ({ ...endpoint, gpu: { ...endpoint.gpu, ...one } }));

const rows: Row[] = [
  ["startSsh", "Template", [true, false].map((startSsh) => ({ ...template, startSsh }))],
  ["startJupyter", "Template", [true, false].map((startJupyter) => ({ ...template, startJupyter }))],
  ["isPublic", "Template", [true, false].map((isPublic) => ({ ...template, public: isPublic }))],
  ["category", "Template", ["CPU", "NVIDIA", "AMD"].map((category) => ({ ...template, category }))],
  [
    "allowedCudaVersions",
    "Template",
    [[], ["12.4"]].map((allowedCudaVersions) => ({ ...template, allowedCudaVersions })),
  ],
  ["containerRegistryAuthId", "Template", [null, "r1"].map((registry) => ({ ...template, registry }))],
  [
    "volumeInGb",
    "Template",
    [{}, { persistent: { size: 20, path: "/workspace" } }].map((mounts) => ({ ...template, mounts })),
  ],
  [
    "gpuTypeIds",
    "ServerlessEndpoint",
    gpuValues([{ pools: ["ADA_24"] }, { pools: ["AMPERE_48"] }, { pools: ["ADA_24", "NEW_POOL"] }]),
  ],
  [
    "excludedGpuTypeIds",
    "ServerlessEndpoint",
    gpuValues([{ excludedTypes: [] }, { pools: ["ADA_24", "AMPERE_48"], excludedTypes: ["NVIDIA A40"] }]),
  ],
  ["minCudaVersion", "ServerlessEndpoint", gpuValues([{ minCudaVersion: null }, { minCudaVersion: "12.4" }])],
  ["executionTimeoutMs", "ServerlessEndpoint", [0, 300_000, 600_000].map((timeout) => ({ ...endpoint, timeout }))],
  ["networkVolumeId", "ServerlessEndpoint", [[], ["v1"]].map((networkVolumes) => ({ ...endpoint, networkVolumes }))],
  ["type", "ServerlessEndpoint", [{ ...endpoint }, { ...endpoint, type: undefined }]],
  ["type", "NetworkVolume", ["STANDARD", "HIGH_PERFORMANCE"].map((type) => ({ ...volume, type }))],
];
const cpuRows: Row[] = [
  [
    "cpuFlavorIds",
    "ServerlessEndpoint",
    ["cpu3c", "cpu5g"].map((id) => ({ ...cpuEndpoint, cpu: [{ id, vcpuCount: 2, memory: 4 }] })),
  ],
  [
    "vcpuCount",
    "ServerlessEndpoint",
    [2, 4, 8].map((vcpuCount) => ({ ...cpuEndpoint, cpu: [{ id: "cpu3c", vcpuCount, memory: 4 }] })),
  ],
];

/** Properties that differ after a refresh of a deployed object whose record is `record` now. */
async function changesAfterRefresh(kind: Row[1], news: Properties, record: object): Promise<string[]> {
  const pagination = { nextCursor: null, hasNextPage: false };
  const server = await startFaultyServer(({ url }) => {
    if (url.includes("/catalog/gpus")) return json({ gpus: catalog });
    if (url.includes("/templates/")) return json(template);
    if (url.includes("/serverless/e1/releases"))
      return json({
        releases: [],
        rollout: { inProgress: false, workersOnLatest: 0, workersTotal: 0, percentOnLatest: 0 },
        endpointVersion: 1,
        pagination,
      });
    const key = url.includes("/serverless") ? "endpoints" : url.includes("/templates") ? "templates" : "networkVolumes";
    return json({ [key]: [key === "templates" && kind !== "Template" ? template : record], pagination });
  });
  const { origin } = server;
  const addresses = { baseUrl: `${origin}/v2`, graphqlUrl: `${origin}/graphql`, serverlessUrl: origin };
  const clients = createClients({ apiKey: "sck-key-of-the-test", ...addresses });
  onTestFinished(async () => {
    await clients.close();
    await server.close();
  });
  const lifecycle = kinds[kind];
  const { inputs, failures } = lifecycle.check({}, news, undefined, [], "v2");
  expect(failures).toEqual([]);
  const id = { Template: "t1", ServerlessEndpoint: "e1", NetworkVolume: "v1" }[kind];
  const reading = await lifecycle.read(id, { ...inputs, version: 1 }, bench.context({ clients }, "v2"));
  return lifecycle.diff(reading?.outputs ?? {}, inputs, "v2").map(({ path }) => path.join("."));
}

describe("a property that the program leaves to the service accepts every legal value", () => {
  test.each(rows)("%s (%s)", async (_property, kind, values) => {
    for (const record of values) expect(await changesAfterRefresh(kind, declared[kind], record)).toEqual([]);
  });

  test.each(cpuRows)("%s of CPU workers (%s)", async (_property, kind, values) => {
    const news = { ...declared[kind], computeType: "CPU" };
    for (const record of values) expect(await changesAfterRefresh(kind, news, record)).toEqual([]);
  });
});

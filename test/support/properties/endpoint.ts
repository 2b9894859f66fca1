import { gpuPools } from "serverless-compute-api/catalog";
import type { Fields } from "../local-service";
import { joined, list, type References, type Row, variables } from "./property";

const gpu = (more: Fields): Fields => ({ gpu: { pools: ["AMPERE_24"], ...more } });
/** A property of the GPUs in REST v2, which requires pools in a new endpoint. */
const inGpu = (name: string) => ({
  write: (value: unknown) => gpu({ [name]: value }),
  read: (value: unknown) => ({ gpu: { [name]: value } }),
});
const typesOf = (pools: unknown): string[] => list(pools).flatMap((pool) => [...(gpuPools[String(pool)] ?? [])]);
/** Writing in REST v2, and reading the endpoint's own template in REST v1. */
const own = (v2: string, v1: string) => ({
  v1: { read: (value: unknown) => ({ template: { [v1]: value } }) },
  v2: (value: unknown) => ({ [v2]: value }),
  graphql: null,
});
const cpuOf = (id: unknown): { id: string; vcpuCount: number; memory: number } => {
  const [flavor = "", vcpuCount, memory] = String(id).split("-");
  return { id: flavor, vcpuCount: Number(vcpuCount), memory: Number(memory) };
};
const flashBootTypes = new Map<unknown, string>([
  [true, "FLASHBOOT"],
  [false, "OFF"],
]);
const cpuOnly: Fields = { gpu: undefined, cpu: [{ id: "cpu3c", vcpuCount: 2 }] };

/** The properties of an endpoint. */
export const endpointRows = ({
  templates,
  volumes,
  registries: [reader, writer],
}: References): Record<string, Row> => ({
  name: { values: ["in-a", "in-b"], wrong: ["", "x".repeat(192)] },
  templateId: {
    values: [templates[0], templates[1]],
    // REST v2 copies the template.
    v2: null,
    restarts: true,
    wrong: ["nosuch"],
  },
  imageName: {
    values: ["acme/a:1", "acme/b:2"],
    ...own("image", "imageName"),
    restarts: true,
  },
  containerDiskInGb: {
    values: [12, 13],
    ...own("disk", "containerDiskInGb"),
    restarts: true,
    wrong: [-1],
  },
  dockerArgs: {
    values: ["python h.py", "serve --say 'a b'"],
    ...own("args", "dockerArgs"),
    restarts: true,
  },
  dockerEntrypoint: {
    values: [["/bin/start"], ["sh", "it's"]],
    ...own("entrypoint", "dockerEntrypoint"),
    restarts: true,
  },
  dockerStartCmd: {
    values: [["python3", "a b.py"], ["serve"]],
    ...own("cmd", "dockerStartCmd"),
    restarts: true,
  },
  env: {
    values: [{ A: "1" }, { A: "2", B: "3" }],
    ...own("env", "env"),
    restarts: true,
  },
  ports: {
    values: [["8080/http"], ["80/http", "22/tcp"]],
    ...own("ports", "ports"),
    restarts: true,
    wrong: [["8888"], ["8888/udp"], ["0/http"]],
  },
  containerRegistryAuthId: {
    values: [reader, writer],
    ...own("registry", "containerRegistryAuthId"),
    restarts: true,
    wrong: ["nosuch"],
  },
  "env of GraphQL": {
    values: [{ A: "1" }, { A: "2", B: "3" }],
    v1: { read: (env) => ({ env }) },
    v2: { read: (env) => ({ env }) },
    graphql: variables,
    restarts: true,
    drift: false,
  },
  gpuTypeIds: {
    // The order is a priority.
    values: [["NVIDIA H200", "NVIDIA L4", "NVIDIA A40"], ["NVIDIA A40"]],
    v2: null,
    graphql: { read: (gpuTypeIds) => ({ gpuTypeIds }) },
    restarts: true,
    wrong: ["NVIDIA L4", ["NVIDIA L44"]],
  },
  gpuPools: {
    values: [["AMPERE_24"], ["ADA_24", "AMPERE_24"]],
    v1: { read: (pools) => ({ gpuTypeIds: typesOf(pools) }) },
    v2: (pools) => gpu({ pools }),
    graphql: (pools) => ({ gpuIds: joined(pools) }),
    restarts: true,
    wrong: [["NO_POOL"]],
  },
  excludedGpuTypeIds: {
    values: [["NVIDIA L4"], ["NVIDIA RTX A5000"]],
    v1: { read: (types) => ({ gpuTypeIds: typesOf(["AMPERE_24"]).filter((type) => !list(types).includes(type)) }) },
    v2: (excludedTypes) => gpu({ excludedTypes }),
    graphql: (types) => ({ gpuIds: ["AMPERE_24", ...list(types).map((type) => `-${type}`)].join(",") }),
    restarts: true,
  },
  gpuCount: { values: [2, 3], v2: inGpu("count"), restarts: true, wrong: [0, 1.5, 3_000_000_000] },
  cpuFlavorIds: {
    values: [["cpu3c-8-16", "cpu3g-8-32"], ["cpu5c-4-8"]],
    v1: {
      write: (ids) => ({
        cpuFlavorIds: list(ids).map((id) => cpuOf(id).id),
        vcpuCount: cpuOf(list(ids)[0]).vcpuCount,
      }),
      read: (instanceIds) => ({ computeType: "CPU", instanceIds }),
    },
    v2: {
      write: (ids) => ({ cpu: list(ids).map((id) => ({ id: cpuOf(id).id, vcpuCount: cpuOf(id).vcpuCount })) }),
      read: (ids) => ({ cpu: list(ids).map(cpuOf) }),
    },
    graphql: (instanceIds) => ({ instanceIds }),
    restarts: true,
    wrong: [["cpu9c-2-4"]],
    base: { v1: { computeType: "CPU" }, v2: cpuOnly, graphql: { gpuIds: undefined } },
  },
  dataCenterIds: {
    values: [["EU-RO-1"], ["EU-RO-1", "US-KS-2"]],
    graphql: (ids) => ({ locations: joined(ids) }),
    restarts: true,
    wrong: [["EU-RO1"]],
  },
  allowedCudaVersions: {
    values: [["12.4"], ["12.4", "12.8"]],
    v2: inGpu("allowedCudaVersions"),
    graphql: (versions) => ({ allowedCudaVersions: joined(versions) }),
    restarts: true,
  },
  minCudaVersion: { values: ["12.1", "12.4"], v2: inGpu("minCudaVersion"), restarts: true },
  networkVolumeId: {
    values: [volumes[0], volumes[1]],
    v2: (id) => ({ networkVolumes: [id] }),
    restarts: true,
    wrong: ["nosuch"],
  },
  networkVolumeIds: {
    values: [
      [volumes[0], volumes[1]],
      [volumes[1], volumes[2]],
    ],
    v2: (networkVolumes) => ({ networkVolumes }),
    graphql: (ids) => ({ networkVolumeIds: list(ids).map((networkVolumeId) => ({ networkVolumeId })) }),
    restarts: true,
    wrong: [["nosuch", "other"]],
  },
  modelReferences: { values: [["org/a"], ["org/b"]], v1: null, v2: null, drift: false, restarts: true },
  workersMin: { values: [0, 1], v2: (min) => ({ workers: { min } }), wrong: [-1, "1"] },
  workersMax: { values: [1, 2], v2: (max) => ({ workers: { max } }), wrong: [-1, 1.5, 3_000_000_000] },
  idleTimeout: { values: [7, 60], v2: (idleTimeout) => ({ workers: { idleTimeout } }), wrong: [0, 3601] },
  scalerType: {
    values: ["REQUEST_COUNT", "QUEUE_DELAY"],
    v2: (type) => ({ scaling: type === "QUEUE_DELAY" ? { type, queueDelay: 4 } : { type, requestCount: 4 } }),
    wrong: ["GUESSING"],
  },
  scalerValue: {
    values: [2, 9],
    v2: (queueDelay) => ({ scaling: { type: "QUEUE_DELAY", queueDelay } }),
    wrong: [0],
  },
  executionTimeoutMs: { values: [60_000, 90_000], v2: (timeout) => ({ timeout }), wrong: ["long", 1] },
  flashboot: {
    values: [true, false],
    v2: (on) => ({ flashboot: flashBootTypes.get(on) ?? on }),
    graphql: (on) => ({ flashBootType: flashBootTypes.get(on) ?? on }),
    wrong: ["yes"],
  },
  flashbootType: {
    values: ["PRIORITY_FLASHBOOT", "FLASHBOOT"],
    v1: { read: (flashBootType) => ({ flashBootType }) },
    v2: (flashboot) => ({ flashboot }),
    graphql: (flashBootType) => ({ flashBootType }),
    wrong: ["FAST"],
  },
  workersPFBTarget: { values: [1, 2], v1: null, v2: null, drift: false },
  flashEnvironmentId: { values: ["one", "two"], v1: null, v2: null, drift: false },
});

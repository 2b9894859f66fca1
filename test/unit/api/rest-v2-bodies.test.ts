import { expect, test } from "vitest";
import { endpointBody, endpointPatch, templateBody } from "../../../api/dialects/rest-v2-bodies";

type Changes = Parameters<typeof endpointPatch>[0];
type Settings = Parameters<typeof endpointPatch>[1];

test.each<[name: string, changes: Changes, settings: Settings, body: object]>([
  ["no properties", {}, { idleTimeout: 30 }, {}],
  ["the name", { name: "chat" }, {}, { name: "chat" }],
  ["the idle timeout", { idleTimeout: 30 }, {}, { workers: { idleTimeout: 30 } }],
  [
    "the idle timeout of an endpoint that scales by requests",
    { idleTimeout: 30, workersMin: 1 },
    { scalerType: "REQUEST_COUNT" },
    { workers: { min: 1 } },
  ],
  [
    "the scaling by delay, which requires an idle timeout",
    { scalerType: "QUEUE_DELAY" },
    { scalerType: "QUEUE_DELAY", scalerValue: 7, idleTimeout: 30 },
    { workers: { idleTimeout: 30 }, scaling: { type: "QUEUE_DELAY", queueDelay: 7 } },
  ],
  [
    "the scaling by delay without other settings",
    { scalerType: "QUEUE_DELAY" },
    {},
    { workers: { idleTimeout: 5 }, scaling: { type: "QUEUE_DELAY", queueDelay: 4 } },
  ],
  [
    "the scaling by requests",
    { scalerType: "REQUEST_COUNT", scalerValue: 2 },
    { scalerType: "REQUEST_COUNT", scalerValue: 2, idleTimeout: 30 },
    { scaling: { type: "REQUEST_COUNT", requestCount: 2 } },
  ],
  ["the number of GPUs", { gpuCount: 2 }, {}, { gpu: { count: 2 } }],
  [
    "the CUDA versions, together with the minimum",
    { allowedCudaVersions: ["12.4"] },
    { allowedCudaVersions: ["12.4"], minCudaVersion: "12.1" },
    { gpu: { allowedCudaVersions: ["12.4"], minCudaVersion: "12.1" } },
  ],
  [
    "the minimum CUDA version, together with the versions",
    { minCudaVersion: null },
    { allowedCudaVersions: ["12.4"], minCudaVersion: null },
    { gpu: { allowedCudaVersions: ["12.4"], minCudaVersion: "" } },
  ],
  [
    "the CPU flavours of a CPU endpoint",
    { cpuFlavorIds: ["cpu5c"], gpuCount: 2 },
    { computeType: "CPU", cpuFlavorIds: ["cpu5c"], vcpuCount: 4 },
    { cpu: [{ id: "cpu5c", vcpuCount: 4 }] },
  ],
  ["the CPU flavours of a GPU endpoint", { cpuFlavorIds: ["cpu5c"] }, { computeType: "GPU" }, {}],
  [
    "the volumes, each once",
    { networkVolumeIds: ["v2"] },
    { networkVolumeId: "v1", networkVolumeIds: ["v2", "v1"] },
    { networkVolumes: ["v1", "v2"] },
  ],
  ["the timeout", { executionTimeoutMs: 5000 }, {}, { timeout: 5000 }],
  ["the timeout to its default", { executionTimeoutMs: null }, {}, { timeout: 600_000 }],
  ["flashboot", { flashboot: true }, { flashboot: true }, { flashboot: "FLASHBOOT" }],
  ["flashboot by its type", { flashbootType: "OFF" }, { flashboot: true, flashbootType: "OFF" }, { flashboot: "OFF" }],
])("a change of %s sends its part of an endpoint", (_properties, changes, settings, body) => {
  expect(endpointPatch(changes, settings, {}, undefined)).toEqual(body);
});

const container = {
  imageName: "acme/chat:2",
  containerDiskInGb: 20,
  dockerArgs: "",
  env: { A: "1" },
  ports: "80/http",
  containerRegistryAuthId: "",
  volumeInGb: 0,
  volumeMountPath: "",
};

test.each<[settings: object, scaling: object]>([
  [{}, { type: "QUEUE_DELAY", queueDelay: 4 }],
  [{ type: "LOAD_BALANCER" }, { type: "REQUEST_COUNT", requestCount: 4 }],
])("a new endpoint with %j scales by a criterion that its type allows", (settings, scaling) => {
  expect(endpointBody({ templateId: "t1", ...settings }, container, undefined).scaling).toEqual(scaling);
});

test("a change of the container and the pools sends both", () => {
  const pools = { pools: ["AMPERE_24"], excludedTypes: ["L4"] };
  expect(endpointPatch({}, {}, container, pools)).toMatchObject({
    image: "acme/chat:2",
    env: { A: "1" },
    ports: ["80/http"],
    registry: null,
    gpu: pools,
  });
});

test.each<[name: string, changes: Parameters<typeof templateBody>[0], settings: object, mounts: object | undefined]>([
  ["the size", { volumeInGb: 20 }, { volumeInGb: 20 }, { persistent: { size: 20, path: "/workspace" } }],
  [
    "the path",
    { volumeMountPath: "/data" },
    { volumeInGb: 20, volumeMountPath: "/data" },
    { persistent: { size: 20, path: "/data" } },
  ],
  ["another property", { readme: "x" }, { volumeInGb: 20 }, undefined],
  ["the path without a volume", { volumeMountPath: "/data" }, { volumeInGb: 0, volumeMountPath: "/data" }, undefined],
])("a change of %s sends a template's volume only if the change affects it", (_property, changes, settings, mounts) => {
  const body = { mounts: undefined, ...templateBody(changes, { ...changes, ...settings }) };
  expect(body.mounts).toEqual(mounts);
});

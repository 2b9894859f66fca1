import { v2EndpointRecord } from "serverless-compute-api/shapes";
import { expect, test } from "vitest";
import { endpointFrom } from "../../../api/dialects/rest-v2-records";

const pools = new Map([["AMPERE_24", ["NVIDIA L4", "NVIDIA RTX A5000"]]]);
const convert = (fields: object) => endpointFrom(v2EndpointRecord.parse({ id: "e1", name: "chat", ...fields }), pools);

test.each<[string, fields: object, record: object]>([
  [
    "without compute settings",
    {},
    { computeType: undefined, gpuTypeIds: [], cpuFlavorIds: [], networkVolumeIds: [], allowedCudaVersions: [] },
  ],
  [
    "for GPUs",
    {
      gpu: {
        pools: ["AMPERE_24"],
        excludedTypes: ["NVIDIA L4"],
        count: 1,
        allowedCudaVersions: ["12.4"],
        minCudaVersion: "12.1",
      },
    },
    {
      computeType: "GPU",
      gpuTypeIds: ["NVIDIA RTX A5000"],
      anyGpuType: true,
      gpuCount: 1,
      allowedCudaVersions: ["12.4"],
      minCudaVersion: "12.1",
    },
  ],
  [
    "without a minimum version",
    { gpu: { pools: [], minCudaVersion: "" } },
    { minCudaVersion: undefined, excludedGpuTypeIds: [] },
  ],
  [
    "for CPUs",
    { cpu: [{ id: "cpu3c", vcpuCount: 2, memory: 4 }] },
    { computeType: "CPU", cpuFlavorIds: ["cpu3c"], vcpuCount: 2 },
  ],
  ["with one volume", { networkVolumes: ["v1"] }, { networkVolumeId: "v1", networkVolumeIds: [] }],
  ["with two volumes", { networkVolumes: ["v1", "v2"] }, { networkVolumeIds: ["v1", "v2"] }],
  [
    "that scales by requests",
    { type: "QUEUE", scaling: { type: "REQUEST_COUNT", requestCount: 4 }, workers: { min: 0, max: 3, idleTimeout: 9 } },
    { scalerType: "REQUEST_COUNT", scalerValue: 4, idleTimeout: 5, workersMin: 0, workersMax: 3 },
  ],
  [
    "that scales by delay",
    { type: "QUEUE", scaling: { type: "QUEUE_DELAY", queueDelay: 7 }, workers: { idleTimeout: 5 } },
    { scalerType: "QUEUE_DELAY", scalerValue: 7, idleTimeout: 5 },
  ],
  ["without a timeout", { timeout: 0 }, { executionTimeoutMs: undefined }],
  ["without flashboot", { flashboot: "OFF" }, { flashboot: false, flashbootType: "OFF" }],
  [
    "behind a load balancer",
    { type: "LOAD_BALANCER", requestUrls: { base: "https://e1.example", run: "https://x.example" } },
    { requestUrl: "https://e1.example" },
  ],
  [
    "without a type and with the address of a load balancer",
    { requestUrls: { base: "https://e1.example", health: "https://e1.example/ping" } },
    { requestUrl: "https://e1.example" },
  ],
  ["behind a load balancer without addresses", { type: "LOAD_BALANCER" }, { requestUrl: undefined }],
  ["with a queue", { type: "QUEUE", requestUrls: { base: "https://e1.example" } }, { requestUrl: undefined }],
])("an endpoint %s has the settings of its response", (_what, fields, record) => {
  expect(convert(fields)).toMatchObject(record);
});

test("a response without container and compute settings does not report their properties", () => {
  const gpu = ["gpuTypeIds", "gpuPools", "excludedGpuTypeIds", "gpuCount", "allowedCudaVersions", "minCudaVersion"];
  const { container, unknownKeys } = convert({});
  expect(container).toBeUndefined();
  expect(unknownKeys).toEqual([...gpu, "cpuFlavorIds", "vcpuCount", "templateId"]);
});

test("a response with a container and all compute settings reports every property", () => {
  const { templateId, container, unknownKeys } = convert({
    image: "acme/chat:1",
    env: { MODEL: "small", SERVERLESS_COMPUTE_TEMPLATE_ID: "t1" },
    gpu: { pools: [] },
    cpu: [],
  });
  expect(unknownKeys).toEqual([]);
  expect([templateId, container?.env]).toEqual(["t1", { MODEL: "small" }]);
});

import { serverlessEndpointRecord } from "serverless-compute-api/shapes";
import { expect, test } from "vitest";
import { endpointFrom } from "../../../api/dialects/rest-v1";
import { startRig } from "../../support/client-rig";
import { json } from "../../support/faulty-server";
import { endpointRecord } from "../../support/records";

const convert = (fields: object) =>
  endpointFrom(serverlessEndpointRecord.parse({ id: "e1", name: "chat", templateId: "t1", ...fields }));

test.each<[string, fields: object, record: object]>([
  ["no instances", { instanceIds: [] }, { cpuFlavorIds: [] }],
  ["instances", { instanceIds: ["cpu3c-8-16", "cpu5c-8-16"] }, { cpuFlavorIds: ["cpu3c", "cpu5c"], vcpuCount: 8 }],
  ["an instance without a count", { instanceIds: ["cpu3c"] }, { cpuFlavorIds: ["cpu3c"] }],
  ["flavours and instances", { cpuFlavorIds: ["cpu5c"], instanceIds: ["cpu3c-8-16"] }, { cpuFlavorIds: ["cpu5c"] }],
])("an endpoint with %s has these CPU settings", (_what, fields, record) => {
  const { cpuFlavorIds, vcpuCount } = convert(fields);
  expect({ cpuFlavorIds, vcpuCount }).toEqual({ vcpuCount: undefined, ...record });
});

const clearable = [
  ...["gpuTypeIds", "cpuFlavorIds", "vcpuCount", "dataCenterIds", "allowedCudaVersions"],
  ...["minCudaVersion", "networkVolumeId", "networkVolumeIds", "executionTimeoutMs"],
];

test("an endpoint does not report settings that its response omits", () => {
  const { gpuTypeIds, dataCenterIds, allowedCudaVersions, networkVolumeIds, unknownKeys } = convert({});
  expect([gpuTypeIds, dataCenterIds, allowedCudaVersions, networkVolumeIds]).toEqual([[], [], [], []]);
  expect(unknownKeys).toEqual(clearable);
  expect(convert({ instanceIds: [] }).unknownKeys).toEqual(clearable);
  const complete = Object.fromEntries(clearable.map((key) => [key, null]));
  expect(convert({ ...complete, computeType: null })).toMatchObject({
    ...{ gpuTypeIds: [], cpuFlavorIds: [], dataCenterIds: [], allowedCudaVersions: [], networkVolumeIds: [] },
    computeType: undefined,
    unknownKeys: [],
  });
});

test("endpoints are bound to their template, and have no releases or copies", async () => {
  const { clients, requests } = await startRig([
    json([endpointRecord({ id: "e1", templateId: "t1" }), endpointRecord({ id: "e2", templateId: "t2" })]),
  ]);
  const { management } = clients;
  expect((await management.listEndpoints()).map(({ templateId }) => templateId)).toEqual(["t1", "t2"]);
  expect(await management.readReleases("e1")).toBeUndefined();
  expect(management.updateCopy).toBeUndefined();
  expect(requests.map(({ url }) => url)).toEqual(["/v1/endpoints"]);
});

test("the number of GPUs of a CPU endpoint is unknown, because it has no effect", async () => {
  const { clients } = await startRig(() => json([endpointRecord({ computeType: "CPU", gpuCount: 1 })]));
  const [endpoint] = await clients.management.listEndpoints();
  expect(endpoint?.unknownKeys).toContain("gpuCount");
});

test("pools are unknown, without a request, for an endpoint whose response omits its GPU types", async () => {
  const { clients, requests } = await startRig([json({}, 400)]);
  const endpoint = convert({});
  expect(await clients.management.withPools?.(endpoint)).toEqual(endpoint);
  expect(requests).toEqual([]);
});

import { serverlessEndpointRecord } from "serverless-compute-api/shapes";
import { describe, expect, test } from "vitest";
import { endpointFrom } from "../../../api/dialects/rest-v1";
import { apiErrorOf, startRig } from "../../support/client-rig";
import { json } from "../../support/faulty-server";
import { endpointRecord, templateRecord } from "../../support/records";

const mark = "SERVERLESS_COMPUTE_TEMPLATE_ID";
const copy = templateRecord({ id: "copy1", env: { MODEL: "small", [mark]: "t1" } });
const convert = (fields: object) =>
  endpointFrom(serverlessEndpointRecord.parse({ id: "e1", name: "chat", templateId: "t1", ...fields }));
const bound = (fields: object = {}) => endpointRecord({ id: "e1", templateId: "copy1", template: copy, ...fields });

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

describe("an endpoint that REST v2 created with a copy of a template", () => {
  const gpuTypes = json({
    data: {
      serverlessGpuPools: [
        { id: "AMPERE_24", gpuTypeIds: ["NVIDIA L4", "NVIDIA RTX A5000"] },
        { id: "ADA_24", gpuTypeIds: ["NVIDIA GeForce RTX 4090"] },
      ],
      gpuTypes: ["NVIDIA RTX A5000", "NVIDIA L4", "NVIDIA GeForce RTX 4090"].map((id) => ({ id })),
    },
  });
  const start = (fields: object) =>
    startRig(({ body, method }) => {
      if (method === "GET") return json(bound(fields));
      return body.includes("gpuTypes") ? gpuTypes : json({ data: { podTemplate: { ...copy, dockerArgs: "--fast" } } });
    });

  test("has the original template, the copy's settings, and its GPU types in the catalog's order", async () => {
    const { clients } = await start({ gpuTypeIds: ["NVIDIA L4", "NVIDIA RTX A5000"] });
    expect(await clients.management.readEndpoint("e1")).toMatchObject({
      templateId: "t1",
      copyId: "copy1",
      container: { dockerArgs: "--fast", env: { MODEL: "small" } },
      gpuTypeIds: ["NVIDIA RTX A5000", "NVIDIA L4"],
      anyGpuType: false,
    });
  });

  test.each([
    ["REQUEST_COUNT", undefined],
    ["QUEUE_DELAY", 5],
  ])("that scales by %s has the idle timeout %j", async (scalerType, idleTimeout) => {
    const { clients, requests } = await start({ scalerType, idleTimeout: 5, gpuTypeIds: [] });
    expect((await clients.management.readEndpoint("e1"))?.idleTimeout).toBe(idleTimeout);
    expect(requests).toHaveLength(2);
  });

  test("has the settings of the original after an update of the copy", async () => {
    const { clients, requests } = await startRig(({ body }) => {
      const { operationName, variables } = JSON.parse(body);
      if (operationName === "saveTemplate") return json({ data: { saveTemplate: copy } });
      return json({ data: { podTemplate: variables.id === "t1" ? templateRecord({ id: "t1" }) : copy } });
    });
    await clients.management.updateCopy({ id: "e1", copyId: "copy1" }, "t1");
    const { operationName, variables } = JSON.parse(requests.at(-1)?.body ?? "");
    expect([operationName, variables.input.id]).toEqual(["saveTemplate", "copy1"]);
    expect(variables.input.env).toContainEqual({ key: mark, value: "t1" });
    expect(variables.input.imageName).toBe("ghcr.io/acme/chat:1.4.2");
  });

  test.each<[string, copyId: string | undefined, podTemplate: object | null]>([
    ["without a template", "copy1", null],
    ["without a copy", undefined, templateRecord()],
  ])("%s is not updated", async (_what, copyId, podTemplate) => {
    const { clients, requests } = await startRig([json({ data: { podTemplate } })]);
    const error = await apiErrorOf(clients.management.updateCopy({ id: "e1", copyId }, "t1"));
    expect(error).toMatchObject({ code: "template_not_found", request: { method: "PATCH" } });
    expect(error.message).toBe('templateId: template "t1" does not exist');
    expect(requests).toHaveLength(1);
  });
});

test("a change of the template is a PATCH with its id, and an endpoint of REST v1 has no releases", async () => {
  const { clients, requests } = await startRig([json({})]);
  expect(clients.management.templateChange("e1", "t2")).toEqual({
    url: expect.stringMatching(/\/v1\/endpoints\/e1$/),
    body: { templateId: "t2" },
  });
  expect(await clients.management.readReleases("e1")).toBeUndefined();
  expect(() => clients.management.templateChange("", "t2")).toThrow('the endpoint id is ""');
  expect(requests).toEqual([]);
});

test("the number of GPUs of a CPU endpoint is unknown, because it has no effect", async () => {
  const { clients } = await startRig(() => json([endpointRecord({ computeType: "CPU", gpuCount: 1 })]));
  const [endpoint] = await clients.management.listEndpoints();
  expect(endpoint?.unknownKeys).toContain("gpuCount");
});

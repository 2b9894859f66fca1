import { createClients, type EndpointRecord, systemClock } from "serverless-compute-api";
import { bareName, v2EndpointRecord } from "serverless-compute-api/shapes";
import { afterAll, describe, expect, test } from "vitest";
import { endpointPatch } from "../../../../api/dialects/rest-v2-bodies";
import { endpointFrom } from "../../../../api/dialects/rest-v2-records";
import { type Properties, toProperties } from "../../../../provider/engine/values";
import { observe } from "../../../../provider/resources/serverless-endpoint/record";
import {
  failureAfter,
  inPlaceWarnings,
  triggersChanged,
  unverifiedIn,
} from "../../../../provider/resources/serverless-endpoint/rollout-states";

const record: EndpointRecord = {
  id: "e1",
  name: "chat",
  gpuTypeIds: [],
  cpuFlavorIds: [],
  dataCenterIds: [],
  allowedCudaVersions: [],
  networkVolumeIds: [],
};
// No request is sent.
const origin = "http://127.0.0.1:1";
const clients = createClients({
  apiKey: "k",
  baseUrl: origin,
  graphqlUrl: origin,
  serverlessUrl: origin,
  clock: systemClock,
});
afterAll(() => clients.close());
const context = { clients };
const inputsOf = (reported: Partial<EndpointRecord>, desired: Properties = {}) =>
  observe({ ...record, ...reported }, desired, context).inputs;

const [l4, a40, l40] = ["NVIDIA L4", "NVIDIA A40", "NVIDIA L40"];

describe("the GPU types of a record", () => {
  test.each<[string, Partial<EndpointRecord>, Properties, object]>([
    ["keep their order", { gpuTypeIds: [a40, l4] }, { gpuTypeIds: [l4, a40] }, { gpuTypeIds: [a40, l4] }],
    [
      "are those of the pools if one type differs",
      { gpuTypeIds: [l4, l40], anyGpuType: false },
      { gpuTypeIds: [l4, a40] },
      { gpuTypeIds: [l4, l40], excludedGpuTypeIds: [] },
    ],
    [
      "are those of the pools if one type is missing",
      { gpuTypeIds: [l4], anyGpuType: false },
      { gpuTypeIds: [l4, a40] },
      { gpuTypeIds: [l4], excludedGpuTypeIds: [] },
    ],
    [
      "are empty if all but the excluded types are allowed",
      { gpuTypeIds: [l4], anyGpuType: true, excludedGpuTypeIds: [a40] },
      {},
      { gpuTypeIds: [], excludedGpuTypeIds: [a40] },
    ],
    [
      "are empty if the program leaves them to the service",
      { gpuTypeIds: [l4], anyGpuType: false },
      { gpuTypeIds: [] },
      { gpuTypeIds: [], excludedGpuTypeIds: [] },
    ],
    [
      "are the pools if the program has pools",
      { gpuTypeIds: [l4], anyGpuType: false, gpuPools: ["ADA_24"], excludedGpuTypeIds: [a40] },
      { gpuPools: ["AMPERE_24"] },
      { gpuTypeIds: [], gpuPools: ["ADA_24"], excludedGpuTypeIds: [a40] },
    ],
    [
      "are those of the pools in an import",
      { gpuTypeIds: [l4], anyGpuType: false },
      {},
      { gpuTypeIds: [l4], excludedGpuTypeIds: [] },
    ],
  ])("%s", (_, reported, desired, inputs) => {
    expect(inputsOf(reported, desired)).toMatchObject(inputs);
  });

  test.each(["gpuPools", "excludedGpuTypeIds"])(
    "are unknown to a program with %s if the record has no pools",
    (key) => {
      const inputs = inputsOf({ gpuTypeIds: [l4] }, { [key]: ["any"] });
      expect(Object.keys(inputs).filter((name) => name.toLowerCase().includes("gpu"))).toEqual([]);
    },
  );
});

describe("the volumes of a record", () => {
  test.each<[string, Partial<EndpointRecord>, Properties, object]>([
    [
      "are a single volume if the program has one",
      { networkVolumeIds: ["v1"] },
      { networkVolumeId: "v1" },
      { networkVolumeId: "v1", networkVolumeIds: [] },
    ],
    [
      "are a single volume if the service shows it under both names",
      { networkVolumeId: "v1", networkVolumeIds: ["v1"] },
      { networkVolumeId: "v1" },
      { networkVolumeId: "v1", networkVolumeIds: [] },
    ],
    [
      "contain the single volume in the list if the program has it in both",
      { networkVolumeIds: ["v1", "v2"] },
      { networkVolumeId: "v1", networkVolumeIds: ["v1", "v2"] },
      { networkVolumeId: "v1", networkVolumeIds: ["v1", "v2"] },
    ],
    [
      "are a list if the program has a list",
      { networkVolumeId: "v1", networkVolumeIds: ["v1"] },
      { networkVolumeIds: ["v1"] },
      { networkVolumeId: undefined, networkVolumeIds: ["v1"] },
    ],
    [
      "are the single volume of the service if the program has another one",
      { networkVolumeId: "v2" },
      { networkVolumeId: "v1" },
      { networkVolumeId: "v2", networkVolumeIds: [] },
    ],
    [
      "are none if the service has none",
      {},
      { networkVolumeId: "v1" },
      { networkVolumeId: undefined, networkVolumeIds: [] },
    ],
  ])("%s", (_, reported, desired, inputs) => {
    expect(inputsOf(reported, desired)).toMatchObject(inputs);
  });

  test("are not reported if the service does not show lists and the program has one", () => {
    const inputs = inputsOf({ unknownKeys: ["networkVolumeIds"] }, { networkVolumeIds: ["v1"] });
    expect(inputs).not.toHaveProperty("networkVolumeIds");
  });
});

describe("the CPU flavours of a record", () => {
  test.each<[string, Partial<EndpointRecord>, Properties, object]>([
    [
      "keep their number of CPUs apart",
      { cpuFlavorIds: ["cpu3c"], vcpuCount: 8 },
      {},
      { cpuFlavorIds: ["cpu3c"], vcpuCount: 8 },
    ],
    [
      "use the entries of the program",
      { cpuFlavorIds: ["cpu3c-4", "cpu5c-4"] },
      { cpuFlavorIds: ["cpu3c-4", "cpu5c"], vcpuCount: 4 },
      { cpuFlavorIds: ["cpu3c-4", "cpu5c"], vcpuCount: 4 },
    ],
    [
      "show a number that differs from the program's",
      { cpuFlavorIds: ["cpu3c-8"] },
      { cpuFlavorIds: ["cpu3c"], vcpuCount: 4 },
      { cpuFlavorIds: ["cpu3c-8"], vcpuCount: 4 },
    ],
    [
      "match any number if the program sets none",
      { cpuFlavorIds: ["cpu3c-8"] },
      { cpuFlavorIds: ["cpu3c"] },
      { cpuFlavorIds: ["cpu3c"], vcpuCount: undefined },
    ],
  ])("%s", (_, reported, desired, inputs) => {
    expect(inputsOf(reported, desired)).toMatchObject(inputs);
  });
});

/** Flavours and virtual CPUs in programs, and the entries of their `cpu` list in REST v2. */
test.each<[{ cpuFlavorIds: string[]; vcpuCount?: number }, string[]]>([
  [{ cpuFlavorIds: ["cpu3c-4", "cpu5c-8"] }, ["cpu3c 4", "cpu5c 8"]],
  [{ cpuFlavorIds: ["cpu3c", "cpu5c-8"] }, ["cpu3c 2", "cpu5c 8"]],
  [{ cpuFlavorIds: ["cpu3c", "cpu5c-8"], vcpuCount: 4 }, ["cpu3c 4", "cpu5c 8"]],
  [{ cpuFlavorIds: ["cpu3c-4", "cpu5c-4"], vcpuCount: 2 }, ["cpu3c 4", "cpu5c 4"]],
  [{ cpuFlavorIds: ["cpu3c-2", "cpu3c-4"] }, ["cpu3c 2", "cpu3c 4"]],
  [{ cpuFlavorIds: ["cpu3c", "cpu5c"], vcpuCount: 4 }, ["cpu3c 4", "cpu5c 4"]],
])("%j is sent to REST v2 as %j and read without a change", (desired, sent) => {
  const { cpu = [] } = endpointPatch(desired, { computeType: "CPU", ...desired }, {}, undefined);
  expect(cpu.map(({ id, vcpuCount }) => `${id} ${vcpuCount}`)).toEqual(sent);
  const response = v2EndpointRecord.parse({ ...record, cpu: cpu.map((flavor) => ({ ...flavor, memory: 8 })) });
  expect(inputsOf(endpointFrom(response, undefined), { ...desired })).toMatchObject(desired);
});

test.each<[string, Partial<EndpointRecord>, Properties, object]>([
  [
    "flashboot if the program does not set flashbootType",
    { flashboot: true, flashbootType: "FLASHBOOT" },
    {},
    { flashboot: true },
  ],
  [
    "flashbootType if the program sets it",
    { flashboot: true, flashbootType: "FLASHBOOT" },
    { flashbootType: "OFF" },
    { flashbootType: "FLASHBOOT" },
  ],
  [
    "flashbootType if flashboot cannot express the value",
    { flashboot: true, flashbootType: "PRIORITY_FLASHBOOT" },
    {},
    { flashbootType: "PRIORITY_FLASHBOOT" },
  ],
])("a record has %s", (_, reported, desired, inputs) => {
  expect(Object.entries(inputsOf(reported, desired)).filter(([key]) => key.startsWith("flashboot"))).toEqual(
    Object.entries(inputs),
  );
});

test("a record has its address, its version if reported, and the unverified settings of the state", () => {
  const outputs = (reported: Partial<EndpointRecord>, desired: Properties = {}) =>
    observe({ ...record, ...reported }, desired, context).outputs;
  expect(outputs({ requestUrl: "https://lb.example" })).toEqual({ url: "https://lb.example" });
  const state = { type: "LOAD_BALANCER", url: "https://lb.example" };
  expect(outputs({}, state)).toEqual({ url: "https://lb.example" });
  expect(outputs({ requestUrl: "https://new.example" }, state)).toEqual({ url: "https://new.example" });
  expect(outputs({ type: "QUEUE" }, { type: "QUEUE", url: "https://old.example" })).toEqual({
    url: context.clients.jobs.url("e1"),
  });
  expect(outputs({ version: 3 }, { unverified: { before: {} } })).toEqual({
    url: context.clients.jobs.url("e1"),
    version: 3,
    unverified: { before: {} },
  });
});

test.each([
  ["chat-fb", "chat"],
  ["chat -fb", "chat"],
  ["chat-fb-2", "chat-fb-2"],
  ["chat-fb -fb", "chat"],
])("the name %j without the service's suffix is %j", (name, bare) => {
  expect(bareName(name)).toBe(bare);
});

describe("changed triggers", () => {
  const olds = { verify: { input: {}, triggers: ["1"] } };

  test.each<[string, object, unknown, boolean]>([
    ["differ from those of the state", olds, { input: {}, triggers: ["2"] }, true],
    ["may be removed", olds, { input: {} }, true],
    ["are not equal ones", olds, { input: { a: 1 }, triggers: ["1"] }, false],
    ["are not absent and empty ones", { verify: { input: {} } }, { input: {}, triggers: [] }, false],
    ["are not those of a verify that is added", {}, { input: {}, triggers: ["2"] }, false],
    ["are not those of a verify that is removed", olds, undefined, false],
  ])("%s", (_, state, verify, changed) => {
    expect(triggersChanged(toProperties({ ...state }), toProperties({ verify }))).toBe(changed);
  });

  test("cause a warning only without a new template", () => {
    const change = (...path: string[]) => ({ path, kind: "update" as const, replace: false });
    expect(inPlaceWarnings([change("verify", "triggers")])).toHaveLength(1);
    expect(inPlaceWarnings([change("verify", "triggers"), change("templateId")])).toEqual([]);
    expect(inPlaceWarnings([change("verify", "input")])).toEqual([]);
    expect(inPlaceWarnings([change("other", "triggers")])).toEqual([]);
  });
});

describe("the state that the engine records of an endpoint", () => {
  const endpoint = { id: "e1", outputs: { version: 2 } };
  const olds = { templateId: "state", idleTimeout: 5 };
  const before = { templateId: "before", idleTimeout: null };
  const ofState = olds;
  const ofPrevious = { templateId: "before" };

  /** By trigger: the recorded inputs unless they are the program's, the mark if the settings before were verified, and if not. */
  const unverified = { before: {}, neverVerified: true };
  test.each([
    ["createFailed", undefined, unverified, unverified, "verification"],
    ["createInterrupted", undefined, unverified, unverified, undefined],
    ["unconfirmed", ofState, { before, neverVerified: false }, { before, neverVerified: true }, undefined],
    ["interrupted", undefined, { before, neverVerified: false }, { before, neverVerified: true }, undefined],
    ["rolledBack", ofPrevious, undefined, unverified, "verification"],
    ["rollbackFailed", undefined, { before, neverVerified: false }, { before, neverVerified: true }, "verification"],
    ["kept", ofState, unverified, unverified, "verification"],
  ] as const)(
    "after %s has its inputs, its mark and the help page",
    (trigger, inputs, mark, markOfUnverified, help) => {
      for (const neverVerified of [false, true]) {
        const failure = failureAfter(trigger, "it failed", endpoint, olds, { before, neverVerified });
        expect(failure).toMatchObject({ id: "e1", outputs: { version: 2 }, help });
        expect(failure.inputs).toEqual(inputs);
        expect(unverifiedIn(failure.outputs)).toEqual(neverVerified ? markOfUnverified : mark);
      }
    },
  );
});

import { gpuPools } from "serverless-compute-api/catalog";
import { expect, test } from "vitest";
import type { Properties } from "../../provider/engine/values";
import { kinds } from "../../provider/resources";
import { dialect } from "../support/dialect";
import { propertiesIn, useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { expectResponse, send } from "../support/raw-http";

const bench = await useLifecycleBench({ templateRelease: 0 });
const { ServerlessEndpoint, Template } = kinds;
const template = await Template.create(
  Template.check({}, { imageName: "acme/echo:1" }, naming("pools-dev")).inputs,
  bench.context(),
);

const inputsOf = (more: Properties) => {
  const program = { templateId: template.id, ...more };
  const { inputs, failures } = ServerlessEndpoint.check({}, program, naming("pools-dev"), [], dialect);
  expect(failures).toEqual([]);
  return inputs;
};
const servedTypes = async (id: string): Promise<unknown> =>
  (await bench.listObjects("endpoints")).map(propertiesIn).find((endpoint) => endpoint["id"] === id)?.["gpuTypeIds"];
const without = (pool: string, ...excluded: string[]) =>
  (gpuPools[pool] ?? []).filter((type) => !excluded.includes(type));

/** The GPU types of an endpoint, in the order of its updates. */
const selections: [Properties, types: readonly string[]][] = [
  [{ gpuPools: ["AMPERE_48"] }, without("AMPERE_48")],
  [{ gpuPools: ["AMPERE_48"], excludedGpuTypeIds: ["NVIDIA A40"] }, without("AMPERE_48", "NVIDIA A40")],
  [{ gpuPools: ["ADA_24", "AMPERE_48"] }, [...without("ADA_24"), ...without("AMPERE_48")]],
  [{ gpuTypeIds: ["NVIDIA L4"] }, ["NVIDIA L4"]],
  [{ gpuPools: ["ADA_24"] }, without("ADA_24")],
  [{ gpuTypeIds: ["NVIDIA A40"] }, ["NVIDIA A40"]],
  [{ gpuPools: ["AMPERE_48"], excludedGpuTypeIds: ["NVIDIA RTX A6000"] }, without("AMPERE_48", "NVIDIA RTX A6000")],
];

test("updates between pools, pools without types, and types have no drift, and an import has no changes", async () => {
  let id: string | undefined;
  let outputs: Properties = {};
  for (const [selection, types] of selections) {
    const inputs = inputsOf(selection);
    if (id === undefined) ({ id, outputs } = await ServerlessEndpoint.create(inputs, bench.context()));
    else outputs = await ServerlessEndpoint.update(id, outputs, inputs, bench.context());
    expect(await servedTypes(id)).toEqual(types);
    const refreshed = await ServerlessEndpoint.read(id, outputs, bench.context());
    expect(ServerlessEndpoint.diff(refreshed?.outputs ?? {}, inputs, dialect)).toEqual([]);
    const imported = await ServerlessEndpoint.read(id, {}, bench.context());
    const program = inputsOf(imported?.inputs ?? {});
    expect(ServerlessEndpoint.diff(imported?.outputs ?? {}, program, dialect)).toEqual([]);
  }
  if (id !== undefined) await ServerlessEndpoint.delete(id, outputs, bench.context());
});

test("types that other clients add to a pool are drift, which an update reverts", async () => {
  const inputs = inputsOf({ gpuPools: ["ADA_24"] });
  const { id, outputs } = await ServerlessEndpoint.create(inputs, bench.context());
  const { apiKey, baseUrl } = bench.addresses;
  const [path, json] =
    dialect === "v1"
      ? ["endpoints", { gpuTypeIds: [...without("ADA_24"), "NVIDIA A30"] }]
      : ["serverless", { gpu: { pools: ["ADA_24", "AMPERE_24"] } }];
  expectResponse(await send("PATCH", `${baseUrl}/${path}/${id}`, { key: apiKey, json }), 200);
  const refreshed = await ServerlessEndpoint.read(id, outputs, bench.context());
  expect(ServerlessEndpoint.diff(refreshed?.outputs ?? {}, inputs, dialect).map((change) => change.path)).toEqual([
    ["gpuPools"],
  ]);
  await ServerlessEndpoint.update(id, refreshed?.outputs ?? {}, inputs, bench.context());
  expect(await servedTypes(id)).toEqual(without("ADA_24"));
  await ServerlessEndpoint.delete(id, outputs, bench.context());
});

test("the order of the types is drift and a change only if the dialect has an order", async () => {
  const [l4, a40] = ["NVIDIA L4", "NVIDIA A40"];
  const orders = [
    [l4, a40],
    [a40, l4],
  ];
  const [first = {}, second = {}] = orders.map((gpuTypeIds) => inputsOf({ gpuTypeIds }));
  const { id, outputs } = await ServerlessEndpoint.create(first, bench.context());
  const typesAfterRefresh = async (olds: Properties) =>
    (await ServerlessEndpoint.read(id, olds, bench.context()))?.inputs["gpuTypeIds"];
  expect(await typesAfterRefresh(outputs)).toEqual([l4, a40]);
  bench.drainRequests();
  const updated = await ServerlessEndpoint.update(id, outputs, second, bench.context());
  const patches = bench.drainRequests().filter((request) => request.startsWith("PATCH"));
  expect(patches).toHaveLength(dialect === "v1" ? 1 : 0);
  expect(await typesAfterRefresh(updated)).toEqual([a40, l4]);
  // REST v1 reports the order of an earlier deployment, which is drift.
  expect(await typesAfterRefresh(outputs)).toEqual(dialect === "v1" ? [a40, l4] : [l4, a40]);
  await ServerlessEndpoint.delete(id, updated, bench.context());
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gpuTypeIds } from "serverless-compute-api/catalog";
import { createService, type Service, type ServiceOptions } from "serverless-compute-local";
import { describe, expect, test } from "vitest";
import type { StockEntries } from "../../../../service/resources/stock";
import { serviceFolder } from "../../../support/folders";
import { type Fields, useLocalService } from "../../../support/local-service";
import { at, pollUntil, type RawResponse, send, stringAt } from "../../../support/raw-http";
import { runLine } from "../cli/command";
import { useResources } from "./resources-rig";

const l4 = "NVIDIA L4";
const available = "include=AVAILABILITY&product=SERVERLESS";

async function serviceWith(options: ServiceOptions) {
  const { call, graphql, rest, template } = await useLocalService({ images: { tool: "true" }, ...options });
  const endpoint = async (fields: object = {}): Promise<RawResponse> => {
    const templateId = await template({ imageName: "tool" });
    return rest("POST", "/endpoints", { templateId, gpuTypeIds: [l4], workersMax: 1, ...fields });
  };
  return { call, graphql, endpoint };
}

const inRomania: StockEntries = { [`${l4}@EU-RO-1`]: "NONE" };

describe("stock", () => {
  test("of NONE leaves a job in the queue and the worker throttled", async () => {
    const { call, endpoint } = await serviceWith({ stock: { [l4]: "NONE" } });
    const id = stringAt(await endpoint(), "id");
    const job = stringAt(await call("POST", `/v2/${id}/run`, { input: {} }), "id");
    await pollUntil(
      () => call("GET", `/v2/${id}/health`),
      ({ json }) => at(json, "workers", "throttled") === 1,
    );
    expect((await call("GET", `/v2/${id}/status/${job}`)).json).toMatchObject({ status: "IN_QUEUE" });
    const workers = await call("GET", `/v2/serverless/${id}/workers`);
    expect(workers.json).toMatchObject({ workers: [], summary: { total: 0 } });
  });

  test.each<[string, StockEntries, Fields, string]>([
    ["a GPU type", { [l4]: "NONE", "NVIDIA A40": "LOW" }, {}, l4],
    ["one of two GPU types", { [l4]: "NONE", "NVIDIA A40": "LOW" }, { gpuTypeIds: [l4, "NVIDIA A40"] }, ""],
    ["a GPU type, for any type", { [l4]: "NONE" }, { gpuTypeIds: [] }, ""],
    ["all GPU types", Object.fromEntries(gpuTypeIds.map((id) => [id, "NONE"])), { gpuTypeIds: [] }, "any GPU type"],
    ["another data centre", inRomania, {}, ""],
    ["the data centre", inRomania, { dataCenterIds: ["EU-RO-1"] }, `${l4} in EU-RO-1`],
    ["one of two data centres", inRomania, { dataCenterIds: ["EU-RO-1", "US-KS-2"] }, ""],
    ["the data centre of a volume", inRomania, { networkVolumeId: "volume" }, `${l4} in EU-RO-1`],
    ["a CPU flavour", { cpu3c: "NONE" }, { computeType: "CPU", cpuFlavorIds: ["cpu3c"] }, "cpu3c"],
    ["one of two CPU flavours", { cpu3c: "NONE" }, { computeType: "CPU", cpuFlavorIds: ["cpu3c", "cpu5c"] }, ""],
  ])("of %s determines whether workers start", (_what, stock, fields, lack) => {
    const { template, volume, endpoints, lookup } = useResources({ stock });
    const networkVolumeId = fields["networkVolumeId"] && volume();
    const { id } = endpoints.create({ templateId: template(), gpuTypeIds: [l4], ...fields, networkVolumeId });
    expect(lookup.lackOfStock(id)).toBe(lack === "" ? undefined : `no stock of ${lack}, so no worker starts`);
  });

  test("is shown by the catalogs of REST v2 and GraphQL; a data centre overrides its type", async () => {
    const stock = { [l4]: "NONE", [`${l4}@US-KS-2`]: "LOW", "NVIDIA A40": "NONE", cpu3c: "NONE" } as const;
    const { call, graphql } = await serviceWith({ stock });
    const gpu = async (id: string) =>
      (await call("GET", `/v2/catalog/gpus/${encodeURIComponent(id)}?${available}`)).json;
    const shownL4 = await gpu(l4);
    expect(shownL4).toMatchObject({ availability: "LOW" });
    const levels = Object.fromEntries(
      (at(shownL4, "dataCenters") as { id: string; availability: string }[]).map((dataCenter) => [
        dataCenter.id,
        dataCenter.availability,
      ]),
    );
    expect(levels).toMatchObject({ "US-KS-2": "LOW", "EU-RO-1": "NONE" });
    const shownA40 = await gpu("NVIDIA A40");
    expect(shownA40).toMatchObject({ availability: "NONE" });
    expect(shownA40).not.toHaveProperty("dataCenters");
    expect(await gpu("NVIDIA L40")).toMatchObject({ availability: "HIGH" });
    const cpu = await call("GET", `/v2/catalog/cpus/cpu3c?${available}`);
    expect(cpu.json).toMatchObject({ availability: "NONE" });
    const center = await call("GET", "/v2/catalog/datacenters/EU-RO-1?include=GPU_AVAILABILITY,CPU_AVAILABILITY");
    expect(at(center.json, "gpuAvailability")).toContainEqual({ id: l4, name: "L4", availability: "NONE" });
    expect(at(center.json, "cpuAvailability")).toContainEqual(
      expect.objectContaining({ id: "cpu3c", availability: "NONE" }),
    );
    const shown = await graphql(
      `{ gpuTypes(input: { ids: ["${l4}", "NVIDIA A40"] }) { id lowestPrice { stockStatus }
        there: lowestPrice(input: { dataCenterId: "EU-RO-1" }) { stockStatus } }
        dataCenters { id gpuAvailability { gpuTypeId available stockStatus } } }`,
    );
    expect(at(shown.json, "data", "gpuTypes")).toEqual([
      { id: l4, lowestPrice: { stockStatus: "Low" }, there: { stockStatus: null } },
      { id: "NVIDIA A40", lowestPrice: { stockStatus: null }, there: { stockStatus: null } },
    ]);
    const places = at(shown.json, "data", "dataCenters") as { id: string; gpuAvailability: unknown[] }[];
    const inPlace = (id: string) => places.find((place) => place.id === id)?.gpuAvailability;
    expect(inPlace("EU-RO-1")).toContainEqual({ gpuTypeId: l4, available: false, stockStatus: null });
    expect(inPlace("US-KS-2")).toContainEqual({ gpuTypeId: l4, available: true, stockStatus: "Low" });
  });

  test("with an unknown type, data centre or level prevents the start", async () => {
    const start = (stock: object) =>
      createService({ port: 0, ephemeral: true, stock: JSON.parse(JSON.stringify(stock)) });
    await expect(start({ "NVIDIA L5": "NONE" })).rejects.toThrow(/^stock: "NVIDIA L5" is not allowed; must be one of /);
    await expect(start({ [`${l4}@EU-XX-1`]: "NONE" })).rejects.toThrow(/^stock: "EU-XX-1" is not allowed/);
    await expect(start({ [`${l4}@EU-RO-1@US-KS-2`]: "NONE" })).rejects.toThrow(
      /^stock: "EU-RO-1@US-KS-2" is not allowed/,
    );
    await expect(start({ [l4]: 0 })).rejects.toThrow(
      'stock.NVIDIA L4: 0 is not allowed; must be "NONE", "LOW", "MEDIUM" or "HIGH"',
    );
  });
});

describe("the worker quota", () => {
  test("below the allocated workers does not affect endpoints whose workersMax does not rise", () => {
    const before = useResources();
    const { id } = before.endpoints.create({ templateId: before.template(), workersMax: 3 });
    const { endpoints } = before.reopen(2);
    for (const workersMax of [3, 2]) expect(endpoints.update(id, { workersMax })).toMatchObject({ workersMax });
    expect(() => endpoints.update(id, { workersMax: 3 })).toThrow("3 requested, 0 of 2 already allocated");
  });

  test("rejects creates and updates that exceed it, in every API", async () => {
    const { call, graphql, endpoint } = await serviceWith({ workerQuota: 4 });
    const first = stringAt(await endpoint({ workersMax: 3 }), "id");
    const rejected = await endpoint({ workersMax: 2 });
    const reason = "workersMax: the worker quota is exceeded; 2 requested, 3 of 4 already allocated";
    expect(rejected).toMatchObject({ status: 400, json: { message: reason } });
    const body = { name: "v2", image: "tool", type: "QUEUE", gpu: { pools: ["AMPERE_24"] }, workers: { max: 2 } };
    const scaling = { type: "QUEUE_DELAY", queueDelay: 1 };
    expect((await call("POST", "/v2/serverless", { ...body, scaling })).json).toMatchObject({
      detail: reason.replace("workersMax", "workers.max"),
    });
    const { json: second } = await endpoint({ workersMax: 1 });
    const ids = `id: "${at(second, "id")}", templateId: "${at(second, "templateId")}"`;
    const saved = await graphql(
      `mutation { saveEndpoint(input: { ${ids}, name: "second", gpuIds: "AMPERE_24", workersMax: 2 }) { id } }`,
    );
    expect(stringAt(saved, "errors", 0, "message")).toBe(reason);
    expect((await call("PATCH", `/v1/endpoints/${first}`, { workersMax: 4 })).status).toBe(400);
    expect((await call("PATCH", `/v1/endpoints/${first}`, { workersMax: 2 })).status).toBe(200);
    expect((await endpoint({ workersMax: 1 })).status).toBe(200);
  });

  test("is shown with the allocated workers by REST v2 and GraphQL", async () => {
    const query = "{ myself { maxServerlessConcurrency } }";
    const { call, graphql, endpoint } = await serviceWith({ workerQuota: 20 });
    for (const workersMax of [3, 4]) await endpoint({ workersMax });
    expect((await call("GET", "/v2/account/limits")).json).toEqual({
      spendRate: {},
      serverlessWorkers: { limit: 20, used: 7 },
    });
    expect(at((await graphql(query)).json, "data", "myself", "maxServerlessConcurrency")).toBe(20);
    const free = await serviceWith({});
    expect((await free.call("GET", "/v2/account/limits")).json).toEqual({
      spendRate: {},
      serverlessWorkers: { limit: null, used: 0 },
    });
    expect(at((await free.graphql(query)).json, "data", "myself", "maxServerlessConcurrency")).toBeNull();
  });

  test("of -1 prevents the start", async () => {
    await expect(createService({ port: 0, ephemeral: true, workerQuota: -1 })).rejects.toThrow(
      "workerQuota: -1 is not allowed; must be 0 or more",
    );
  });
});

describe("a seed file", () => {
  const endpoint = (max: number) =>
    `{ image: "tool", type: QUEUE, gpu: { pools: [AMPERE_24] }, workers: { max: ${max} }, scaling: { type: QUEUE_DELAY, queueDelay: 1 } }`;

  test("sets stock and quota, which options override; its own endpoints may reach the quota", async () => {
    const folder = serviceFolder();
    const seed = join(folder, "endpoints.yaml");
    writeFileSync(
      seed,
      `simulate: { stock: { ${l4}: NONE, NVIDIA A40: NONE }, workerQuota: 3 }\nendpoints: { chat: ${endpoint(3)} }\n`,
    );
    const start = (options: ServiceOptions): Promise<Service> =>
      createService({ port: 0, dataFolder: join(folder, "data"), runtime: "none", seed, ...options });
    const limits = async (service: Service) =>
      (await send("GET", `${service.url}/v2/account/limits`, { key: service.apiKey })).json;
    const first = await start({});
    expect(await limits(first)).toMatchObject({ serverlessWorkers: { limit: 3, used: 3 } });
    await first.stop(0);
    const second = await start({ stock: { [l4]: "LOW" }, workerQuota: 5 });
    expect(await limits(second)).toMatchObject({ serverlessWorkers: { limit: 5, used: 3 } });
    const { json } = await send("GET", `${second.url}/v2/catalog/gpus?${available}`, { key: second.apiKey });
    expect(at(json, "gpus")).toContainEqual(expect.objectContaining({ id: l4, availability: "LOW" }));
    expect(at(json, "gpus")).toContainEqual(expect.objectContaining({ id: "NVIDIA A40", availability: "NONE" }));
    await second.stop(0);
    writeFileSync(seed, "simulate: { stock: { NVIDIA L5: NONE } }\n");
    await expect(start({})).rejects.toThrow(`${seed}: stock: "NVIDIA L5" is not allowed`);
    writeFileSync(seed, "stock: { NVIDIA L4: NONE }\n");
    await expect(start({})).rejects.toThrow(/stock: unknown property; expected one of images, simulate, runtime/);
  });
});

test("the command line rejects malformed stock and quotas", async () => {
  const start = async (...words: string[]) => (await runLine("start", ...words)).err;
  expect(await start("--stock", "NVIDIA L4")).toMatch(/It must be ID=LEVEL, such as NVIDIA L4@EU-RO-1=NONE\./);
  expect(await start("--stock", "NVIDIA L5=NONE", "--ephemeral", "--port", "0")).toMatch(
    /stock: "NVIDIA L5" is not allowed/,
  );
  expect(await start("--worker-quota", "few")).toMatch(/It must be a whole number, 0 or more\./);
});

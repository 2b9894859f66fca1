import { expect, test } from "vitest";
import { startRig } from "../../support/client-rig";
import { json } from "../../support/faulty-server";

const startWith = async (value: object) => {
  // Queries change nothing, so each is repeated after the lost connection.
  const { clients, result } = await startRig([{ action: "hang up" }, json({ data: value })]);
  return { management: clients.management, result };
};

test("GPU types have their pool and price, and neither if the service does not return them", async () => {
  const { management, result } = await startWith({
    serverlessGpuPools: [{ id: "EMPTY" }, { id: "AMPERE_24", gpuTypeIds: ["NVIDIA L4"] }],
    gpuTypes: [
      {
        id: "NVIDIA L4",
        displayName: "L4",
        manufacturer: "Nvidia",
        memoryInGb: 24,
        lowestPrice: { uninterruptablePrice: 0.5 },
      },
      { id: "NVIDIA A30", lowestPrice: null },
    ],
  });
  expect(await result(management.listGpuTypes())).toEqual([
    { id: "NVIDIA L4", name: "L4", manufacturer: "NVIDIA", memoryInGb: 24, pool: "AMPERE_24", price: 0.5 },
    { id: "NVIDIA A30", name: "NVIDIA A30" },
  ]);
});

test("GPU types of a service without pools have none", async () => {
  const { management, result } = await startWith({ serverlessGpuPools: null, gpuTypes: [{ id: "NVIDIA L4" }] });
  expect(await result(management.listGpuTypes())).toEqual([{ id: "NVIDIA L4", name: "NVIDIA L4" }]);
});

test("the stock of a GPU type is the list of the data centres that have it", async () => {
  const stockOf = (...types: [gpuTypeId: string, available: boolean | null][]) =>
    types.map(([gpuTypeId, available]) => ({ gpuTypeId, available }));
  const { management, result } = await startWith({
    serverlessGpuPools: [{ id: "AMPERE_24", gpuTypeIds: ["NVIDIA L4"] }],
    dataCenters: [
      { id: "EU-RO-1", gpuAvailability: stockOf(["NVIDIA L4", true], ["NVIDIA A30", false]) },
      { id: "US-KS-2", gpuAvailability: stockOf(["NVIDIA L4", true], ["NVIDIA A30", null]) },
      { id: "CA-MTL-1", gpuAvailability: null },
    ],
  });
  expect(await result(management.listGpuStock())).toEqual([
    { id: "NVIDIA L4", pool: "AMPERE_24", dataCenterIds: ["EU-RO-1", "US-KS-2"] },
    { id: "NVIDIA A30", dataCenterIds: [] },
  ]);
});

test.each([
  [20, 20],
  [null, undefined],
])("of a worker quota of %j, the workers of all endpoints are used", async (maxServerlessConcurrency, limit) => {
  const endpoints = [{ workersMax: 3 }, { workersMax: null }, { workersMax: 2 }];
  const { management, result } = await startWith({ myself: { maxServerlessConcurrency, endpoints } });
  expect(await result(management.readWorkerQuota())).toEqual({ limit, used: 5 });
});

test("a data centre without a name has its id as its name", async () => {
  const { management, result } = await startWith({
    dataCenters: [{ id: "EU-RO-1", name: "Romania", region: "EUROPE" }, { id: "US-KS-2" }],
  });
  expect(await result(management.listDataCenters())).toEqual([
    { id: "EU-RO-1", name: "Romania", region: "EUROPE" },
    { id: "US-KS-2", name: "US-KS-2" },
  ]);
});

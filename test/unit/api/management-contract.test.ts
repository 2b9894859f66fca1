import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clients, createClients, type Dialect } from "serverless-compute-api";
import { createService, type Service } from "serverless-compute-local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiErrorOf } from "../../support/client-rig";
import { templateInput } from "../../support/records";
import { discardServiceFolder } from "../../support/service-artefacts";

let service: Service;
let folder: string;
const opened: Clients[] = [];
const clientsIn = (dialect: Dialect): Clients => {
  const baseUrl = `${service.serverlessUrl}/${dialect}`;
  const clients = createClients({ ...service, dialect, baseUrl });
  opened.push(clients);
  return clients;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "contract-"));
  service = await createService({ port: 0, dataFolder: folder, templateRelease: 0 });
});
afterAll(async () => {
  for (const clients of opened) await clients.close();
  await service?.stop(0);
  await discardServiceFolder(folder);
});

const settings = { ...templateInput, isServerless: true, ports: "80/http,22/tcp", dockerArgs: "--fast --really" };

describe.each(["v1", "v2"] as const)("management by %s", (dialect) => {
  test("the catalog contains GPU types with memory, pool, price and stock, data centres, and no quota of workers", async () => {
    const { management } = clientsIn(dialect);
    const types = await management.listGpuTypes();
    const l4 = { name: "L4", memoryInGb: 24, manufacturer: "NVIDIA", pool: "AMPERE_24", price: 0.684 };
    expect(types.find(({ id }) => id === "NVIDIA L4")).toMatchObject(l4);
    // Without a price and without a pool.
    for (const id of ["NVIDIA GeForce RTX 5090", "NVIDIA A30"])
      expect(types.find((type) => type.id === id)?.price).toBeUndefined();
    expect(await management.listDataCenters()).toContainEqual({ id: "EU-RO-1", name: "EU-RO-1", region: "EUROPE" });
    const stock = (await management.listGpuStock()).find(({ id }) => id === "NVIDIA L4");
    expect(stock?.dataCenterIds).toEqual(expect.arrayContaining(["EU-RO-1", "US-KS-2"]));
    expect(await management.readWorkerQuota()).toEqual({ limit: undefined, used: expect.any(Number) });
  });

  test("missing objects, duplicate names and bad references have their own error categories", async () => {
    const { management } = clientsIn(dialect);
    const failures = [
      management.updateTemplate("nosuch", { env: {} }),
      management.updateEndpoint("nosuch", { workersMax: 1 }),
      management.updateNetworkVolume("nosuch", { size: 20 }),
      management.deleteEndpoint("nosuch"),
      management.deleteNetworkVolume("nosuch"),
      management.deleteTemplate({ id: "nosuch", name: "nosuch" }),
      management.deleteRegistryAuth("nosuch"),
    ].map(apiErrorOf);
    for (const error of failures) expect(await error).toMatchObject({ category: "missing", ambiguous: false });
    const template = await management.createTemplate({ ...settings, name: `once-${dialect}` });
    const twice = await apiErrorOf(management.createTemplate({ ...settings, name: `once-${dialect}` }));
    expect(twice).toMatchObject({ category: "conflict", code: "duplicate_name" });
    const lost = await apiErrorOf(management.createEndpoint({ name: "x", templateId: "nosuch", workersMax: 0 }));
    expect(lost).toMatchObject({ category: "invalid", code: "template_not_found" });
    await management.deleteTemplate(template);
  }, 20_000);
});

describe("GPU types without a pool in REST v2", () => {
  test("are rejected without creating an endpoint; the error lists the valid types", async () => {
    const { management } = clientsIn("v2");
    const template = await management.createTemplate({ ...settings, name: "pools" });
    const gpuTypeIds = ["NVIDIA A30"];
    const error = await apiErrorOf(management.createEndpoint({ name: "x", templateId: template.id, gpuTypeIds }));
    expect(error).toMatchObject({ category: "invalid" });
    expect(error.message).toContain('gpuTypeIds: no pool of serverless endpoints has "NVIDIA A30"');
    expect(error.message).toContain("NVIDIA L4, ");
    expect((await management.listEndpoints()).map(({ name }) => name)).not.toContain("x");
    await management.deleteTemplate(template);
  });
});

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
  const other: Dialect = dialect === "v1" ? "v2" : "v1";

  test("a template is created, updated, read and deleted; the other dialect returns the same", async () => {
    const { management } = clientsIn(dialect);
    const made = await management.createTemplate({ ...settings, name: `template-${dialect}` });
    expect(made).toMatchObject({ ...settings, name: `template-${dialect}`, volumeInGb: 0 });
    const changed = await management.updateTemplate(made.id, { env: { A: "1" }, containerDiskInGb: 7 });
    expect(changed).toMatchObject({ ...settings, name: made.name, env: { A: "1" }, containerDiskInGb: 7 });
    expect(await management.readTemplate(made.id)).toEqual(changed);
    expect(await management.listTemplates()).toContainEqual(changed);
    const seen = await clientsIn(other).management.readTemplate(made.id);
    expect(seen).toMatchObject({ ...settings, name: made.name, env: { A: "1" }, containerDiskInGb: 7 });
    await management.deleteTemplate(made);
    expect(await management.readTemplate(made.id)).toBeUndefined();
  });

  test("registry credentials of a template are set and cleared", async () => {
    const { management } = clientsIn(dialect);
    const auth = await management.createRegistryAuth({ name: `auth-${dialect}`, username: "u", password: "p" });
    expect(await management.listRegistryAuths()).toContainEqual(auth);
    const containerRegistryAuthId = auth.id;
    const made = await management.createTemplate({ ...settings, name: `private-${dialect}`, containerRegistryAuthId });
    expect(made).toMatchObject({ containerRegistryAuthId });
    const cleared = await management.updateTemplate(made.id, { containerRegistryAuthId: null });
    expect(cleared.containerRegistryAuthId).toBeUndefined();
    await management.deleteTemplate(made);
    await management.deleteRegistryAuth(auth.id);
    expect(await management.listRegistryAuths()).not.toContainEqual(auth);
  });

  test("an endpoint is created, updated, read and deleted; the other dialect returns the same", async () => {
    const { management } = clientsIn(dialect);
    const template = await management.createTemplate({ ...settings, name: `runs-${dialect}` });
    const volume = await management.createNetworkVolume({ name: "models", size: 10, dataCenterId: "EU-RO-1" });
    const whole = {
      name: `endpoint-${dialect}`,
      computeType: "GPU",
      gpuTypeIds: ["NVIDIA L4", "NVIDIA A40"],
      gpuCount: 2,
      dataCenterIds: ["EU-RO-1"],
      networkVolumeId: volume.id,
      idleTimeout: 7,
      executionTimeoutMs: 60_000,
      flashboot: true,
      scalerType: "QUEUE_DELAY",
      scalerValue: 3,
      workersMin: 0,
      workersMax: 0,
    } as const;
    const made = await management.createEndpoint({ ...whole, templateId: template.id });
    expect(made).toMatchObject({ ...whole, templateId: template.id });
    const seen = await clientsIn(other).management.readEndpoint(made.id);
    expect(seen).toMatchObject(whole);
    await management.updateEndpoint(
      made.id,
      {
        scalerType: "QUEUE_DELAY",
        scalerValue: 9,
        networkVolumeId: null,
        flashboot: false,
        gpuTypeIds: ["NVIDIA H200"],
      },
      {
        settings: {
          ...whole,
          ...{
            templateId: template.id,
            cpuFlavorIds: [],
            vcpuCount: null,
            allowedCudaVersions: [],
            minCudaVersion: null,
          },
          ...{ scalerValue: 9, networkVolumeId: null, networkVolumeIds: [], flashboot: false },
          gpuTypeIds: ["NVIDIA H200"],
        },
      },
    );
    const changed = await management.readEndpoint(made.id);
    expect(changed).toMatchObject({ scalerType: "QUEUE_DELAY", scalerValue: 9, flashboot: false, idleTimeout: 7 });
    expect([changed?.networkVolumeId, changed?.networkVolumeIds, changed?.gpuTypeIds]).toEqual([
      undefined,
      [],
      ["NVIDIA H200"],
    ]);
    expect((await management.listEndpoints()).map(({ id }) => id)).toContain(made.id);
    await management.deleteEndpoint(made.id);
    expect(await management.readEndpoint(made.id)).toBeUndefined();
    await management.deleteTemplate(template);
    await management.deleteNetworkVolume(volume.id);
  });

  test("a CPU endpoint has its flavours", async () => {
    const { management } = clientsIn(dialect);
    const template = await management.createTemplate({ ...settings, name: `cpu-${dialect}` });
    const made = await management.createEndpoint({
      ...{ name: "cpu", templateId: template.id, computeType: "CPU", workersMax: 0 },
      ...{ cpuFlavorIds: ["cpu5c", "cpu3c"], vcpuCount: 4 },
    });
    expect(made).toMatchObject({ computeType: "CPU", cpuFlavorIds: ["cpu5c", "cpu3c"], vcpuCount: 4 });
    await management.deleteEndpoint(made.id);
    await management.deleteTemplate(template);
  });

  test("a volume is enlarged and renamed", async () => {
    const { management } = clientsIn(dialect);
    const { id } = await management.createNetworkVolume({ name: "data", size: 10, dataCenterId: "EU-RO-1" });
    expect(await management.updateNetworkVolume(id, { size: 20, name: "data-2" })).toMatchObject({
      ...{ id, name: "data-2", size: 20, dataCenterId: "EU-RO-1" },
    });
    expect(await management.readNetworkVolume(id)).toMatchObject({ size: 20 });
    await management.deleteNetworkVolume(id);
    expect(await management.readNetworkVolume(id)).toBeUndefined();
  });

  test("a secret is created, updated and deleted", async () => {
    const { management } = clientsIn(dialect);
    const { id } = await management.createSecret({ name: `secret-${dialect}`, value: "quiet" });
    await management.updateSecretValue({ id, value: "quieter" });
    await management.updateSecretDescription({ id, description: "for the hub" });
    expect(await management.listSecrets()).toContainEqual(expect.objectContaining({ id, description: "for the hub" }));
    await management.deleteSecret(id);
  });

  test("the catalog contains GPU types with memory, pool, price and stock, data centres, and no quota of workers", async () => {
    const { management } = clientsIn(dialect);
    const types = await management.listGpuTypes();
    const l4 = { name: "L4", memoryInGb: 24, manufacturer: "NVIDIA", pool: "AMPERE_24", price: 0.684 };
    expect(types.find(({ id }) => id === "NVIDIA L4")).toMatchObject(l4);
    // In no price list, and in no pool.
    for (const id of ["NVIDIA GeForce RTX 5090", "NVIDIA A30"])
      expect(types.find((type) => type.id === id)?.price).toBeUndefined();
    expect(await management.listDataCenters()).toContainEqual({ id: "EU-RO-1", name: "EU-RO-1", region: "EUROPE" });
    const stock = (await management.listGpuStock()).find(({ id }) => id === "NVIDIA L4");
    expect(stock?.dataCenterIds).toEqual(expect.arrayContaining(["EU-RO-1", "US-KS-2"]));
    expect(await management.readWorkerQuota()).toEqual({ limit: undefined, used: expect.any(Number) });
  });

  test("missing objects, duplicate names and bad references have their own error categories", async () => {
    const { management } = clientsIn(dialect);
    const gone = [
      management.updateTemplate("nosuch", { env: {} }),
      management.updateEndpoint("nosuch", { workersMax: 1 }),
      management.updateNetworkVolume("nosuch", { size: 20 }),
      management.deleteEndpoint("nosuch"),
      management.deleteNetworkVolume("nosuch"),
      management.deleteTemplate({ id: "nosuch", name: "nosuch" }),
      management.deleteRegistryAuth("nosuch"),
    ].map(apiErrorOf);
    for (const error of gone) expect(await error).toMatchObject({ category: "missing", ambiguous: false });
    const template = await management.createTemplate({ ...settings, name: `once-${dialect}` });
    const twice = await apiErrorOf(management.createTemplate({ ...settings, name: `once-${dialect}` }));
    expect(twice).toMatchObject({ category: "conflict", code: "duplicate_name" });
    const lost = await apiErrorOf(management.createEndpoint({ name: "x", templateId: "nosuch", workersMax: 0 }));
    expect(lost).toMatchObject({ category: "invalid", code: "template_not_found" });
    await management.deleteTemplate(template);
  }, 20_000);

  test("a template that an endpoint uses is in use", async () => {
    const template = await clientsIn("v1").management.createTemplate({ ...settings, name: `bound-${dialect}` });
    const bound = await clientsIn("v1").management.createEndpoint({
      templateId: template.id,
      name: "b",
      workersMax: 0,
    });
    const { management } = clientsIn(dialect);
    expect(await apiErrorOf(management.deleteTemplate(template))).toMatchObject({ category: "inUse", code: "in_use" });
    await management.deleteEndpoint(bound.id);
    await management.deleteTemplate(template);
  });
});

describe("GPU types without a pool in REST v2", () => {
  test("are rejected before any request, with the valid ones", async () => {
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

import { describe, expect, test } from "vitest";
import type { Fields } from "../support/local-service";
import { at, expectResponse, type RawResponse, send, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { templateFields, uniqueName, useAccount } from "./support/account";

const target = await useTarget();
const account = useAccount(target);
const message = (response: RawResponse): string => stringAt(response, "errors", 0, "message");

/** An endpoint saved by GraphQL, with the test's selection. */
async function saveEndpoint(fields: Fields, selection: string): Promise<unknown> {
  const templateId = await account.template();
  const id = await account.endpoint({ templateId });
  const whole = { id, name: uniqueName("endpoint"), templateId, workersMin: 0, workersMax: 0, ...fields };
  const save = `mutation ($input: EndpointInput!) { saveEndpoint(input: $input) { id ${selection} } }`;
  const response = await account.graphql(save, { input: whole });
  expect(response.json, response.text).not.toHaveProperty("errors");
  return at(response.json, "data", "saveEndpoint");
}

describe("Clients of the hosted service: selected fields", () => {
  test("an endpoint with its compute type, standby workers and fields that only the hosted service sets", async () => {
    const only = "workersStandby aiKey activeBuildid idePodId compliance";
    const selection = `computeType workersPFBTarget flashEnvironmentId ${only}`;
    const plain = await saveEndpoint({}, selection);
    expect(plain).toMatchObject({ computeType: "GPU", workersPFBTarget: null, flashEnvironmentId: null });
    const set = { workersPFBTarget: 2, flashEnvironmentId: "flash-1" };
    expect(await saveEndpoint(set, selection)).toMatchObject(set);
  });

  test("a template's portsConfig with ports as strings, and isRunpod", async () => {
    const ports = [
      { name: "web", port: 8888 },
      { name: "ssh", port: "22" },
    ];
    const id = await account.template({ portsConfig: ports });
    const response = await account.graphql(`{ podTemplate(id: "${id}") { portsConfig { port name } isRunpod } }`);
    const strings = ports.map(({ name, port }) => ({ name, port: String(port) }));
    expectResponse(response, 200, { data: { podTemplate: { portsConfig: strings, isRunpod: false } } });
    const plain = await account.template();
    const none = await account.graphql(`{ podTemplate(id: "${plain}") { portsConfig { port name } } }`);
    expectResponse(none, 200, { data: { podTemplate: { portsConfig: null } } });
  });

  test("network volumes with their storage, and the data centre of an endpoint's volume", async () => {
    const volume = await account.volume();
    const list = await account.graphql("{ myself { networkVolumes { id storageClusterId storageType } } }");
    expect(list.json, list.text).not.toHaveProperty("errors");
    const dataCenterId = stringAt(await account.rest("GET", `/networkvolumes/${volume}`), "dataCenterId");
    const reference = { networkVolumeId: volume };
    const selection = "networkVolumeIds { networkVolumeId dataCenterId }";
    const endpoint = await saveEndpoint({ networkVolumeIds: [reference] }, selection);
    expect(endpoint).toMatchObject({ networkVolumeIds: [{ ...reference, dataCenterId }] });
  });

  test("the account's balance, limits and notifications", async () => {
    const notify = "notifyPodsStale notifyPodsGeneral notifyLowBalance";
    const response = await account.graphql(
      `{ myself { clientBalance currentSpendPerHr spendLimit pubKey ${notify} } }`,
    );
    expectResponse(response, 200);
    expect(at(response.json, "data", "myself", "clientBalance")).toBeTypeOf("number");
  });
});

describe("Clients of the hosted service: the catalog", () => {
  const rows = async (query: string, name: string): Promise<unknown[]> => {
    const response = await account.graphql(query);
    expect(response.json, response.text).not.toHaveProperty("errors");
    const list = at(response.json, "data", name);
    return Array.isArray(list) ? list : [];
  };

  test("gpuTypes have memory and a lowest price; a filter selects a type", async () => {
    const lowest = "lowestPrice(input: { gpuCount: 1 }) { minimumBidPrice uninterruptablePrice stockStatus }";
    const fields = `id displayName memoryInGb secureCloud communityCloud securePrice ${lowest}`;
    expect((await rows(`{ gpuTypes { ${fields} } }`, "gpuTypes")).length).toBeGreaterThan(10);
    const one = await rows(`{ gpuTypes(input: { id: "NVIDIA A40" }) { ${fields} } }`, "gpuTypes");
    expect(one).toMatchObject([{ id: "NVIDIA A40", displayName: "A40", memoryInGb: 48 }]);
    expect(at(one, 0, "lowestPrice", "uninterruptablePrice")).toBeTypeOf("number");
  });

  test("gpuTypes have the prices and the number of GPUs of REST v2", async () => {
    const shown = await send("GET", `${target.serverlessUrl}/v2/catalog/gpus`, { key: target.apiKey });
    const query = "{ gpuTypes { id maxGpuCount securePrice communityPrice lowestPrice { uninterruptablePrice } } }";
    const gpus = at(shown.json, "gpus");
    expect(await rows(query, "gpuTypes")).toEqual(
      (Array.isArray(gpus) ? gpus : []).map((gpu: unknown) => ({
        id: at(gpu, "id"),
        maxGpuCount: at(gpu, "maxCount", "secure"),
        securePrice: at(gpu, "price", "secure"),
        communityPrice: at(gpu, "price", "community"),
        lowestPrice: { uninterruptablePrice: at(gpu, "price", "serverless") ?? null },
      })),
    );
  });

  test("lowestPrice names the GPU type and its CUDA versions, which narrow the stock", async () => {
    const fields = "gpuName gpuTypeId stockStatus gpuTypeCudaVersions { cudaVersion availability }";
    const lowest = async (id: string, input: Fields) => {
      const response = await account.graphql(
        `query ($price: GpuLowestPriceInput, $types: GpuTypeFilter) {
          gpuTypes(input: $types) { lowestPrice(input: $price) { ${fields} } } }`,
        { types: { ids: [id] }, price: { gpuCount: 1, secureCloud: true, includeAiApi: true, ...input } },
      );
      expectResponse(response, 200);
      return at(response.json, "data", "gpuTypes", 0, "lowestPrice");
    };
    const any = await lowest("NVIDIA L4", { allowedCudaVersions: [], compliance: [], dataCenterId: null });
    expect(any).toMatchObject({ gpuName: "L4", gpuTypeId: "NVIDIA L4", stockStatus: "High" });
    const cuda = (version: string) => ({ cudaVersion: version, availability: "AVAILABLE" });
    expect(at(any, "gpuTypeCudaVersions")).toContainEqual(cuda("12.4"));
    expect(await lowest("NVIDIA L4", { allowedCudaVersions: ["12.8", "1.0"] })).toMatchObject({
      stockStatus: "High",
      gpuTypeCudaVersions: [cuda("12.8")],
    });
    const none = { stockStatus: null, gpuTypeCudaVersions: [] };
    expect(await lowest("NVIDIA L4", { allowedCudaVersions: ["1.0"] })).toMatchObject(none);
    expect(await lowest("AMD Instinct MI300X OAM", { allowedCudaVersions: ["12.8"] })).toMatchObject(none);
    expect(await lowest("NVIDIA L4", { gpuCount: 9 })).toMatchObject({ stockStatus: null });
  });

  test("cpuFlavors have the stock of an instance in a data centre", async () => {
    const query = `query ($flavor: CpuFlavorInput, $specifics: SpecificsInput) {
      cpuFlavors(input: $flavor) { id specifics(input: $specifics) { stockStatus securePrice slsPrice } } }`;
    for (const [instanceId, stockStatus] of [
      ["cpu3c-2-4", "High"],
      ["cpu3c-64-128", null],
    ]) {
      const specifics = { dataCenterId: "EU-RO-1", instanceId, isSls: true };
      const response = await account.graphql(query, { flavor: { id: "cpu3c" }, specifics });
      const shown = { stockStatus, securePrice: 0, slsPrice: 0 };
      expectResponse(response, 200, { data: { cpuFlavors: [{ id: "cpu3c", specifics: shown }] } });
    }
  });

  test("cpuFlavors and dataCenters, with the GPU types of each", async () => {
    const flavors = await rows(
      "{ cpuFlavors(input: { isSls: true }) { id groupName displayName minVcpu maxVcpu ramMultiplier } }",
      "cpuFlavors",
    );
    expect(flavors).toEqual(expect.arrayContaining([expect.objectContaining({ id: "cpu3c" })]));
    const availability = "gpuAvailability { gpuTypeId gpuTypeDisplayName displayName available stockStatus }";
    const centers = await rows(
      `{ dataCenters { id name location region listed storageSupport compliance ${availability} } }`,
      "dataCenters",
    );
    expect(centers).toEqual(expect.arrayContaining([expect.objectContaining({ id: "EU-RO-1", location: "Romania" })]));
    for (const center of centers) expect(at(center, "location")).toMatch(/^[A-Z][a-z]/);
    expect(at(centers, 0, "gpuAvailability")).toContainEqual(expect.objectContaining({ displayName: "A40" }));
  });
});

describe("Clients of the hosted service: sent values", () => {
  test.each([
    ["saveTemplate", "input: SaveTemplateInput", "input: $v", "{ id }"],
    ["updateEndpointTemplate", "input: UpdateEndpointTemplateInput", "input: $v", "{ id }"],
    ["saveRegistryAuth", "input: SaveRegistryAuthInput", "input: $v", "{ id }"],
    ["updateRegistryAuth", "input: UpdateRegistryAuthInput", "input: $v", "{ id }"],
    ["deleteRegistryAuth", "registryAuthId: String", "registryAuthId: $v", ""],
    ["deleteTemplate", "templateName: String", "templateName: $v", ""],
  ])(
    "%s accepts a null argument and rejects it with a message that names it",
    async (name, argument, use, selection) => {
      const [field, type] = argument.split(": ");
      const query = `mutation ($v: ${type}) { ${name}(${use}) ${selection} }`;
      for (const variables of [{ v: null }, {}]) {
        const response = await account.graphql(query, variables);
        expectResponse(response, 200, { data: null });
        expect(message(response)).toMatch(new RegExp(`^${field}: is required and must be an? (object|string)$`));
      }
    },
  );

  test.each(["ADA_24,-NVIDIA L4", "AMPERE_16", "NVIDIA A40, ADA_80_PRO", ""])(
    "gpuIds %j are returned as sent",
    async (gpuIds) => {
      expect(await saveEndpoint({ gpuIds }, "gpuIds")).toMatchObject({ gpuIds });
    },
  );

  test("gpuIds follow an update of gpuTypeIds by REST", async () => {
    const id = at(await saveEndpoint({ gpuIds: "ADA_24,-NVIDIA L4" }, "gpuIds"), "id");
    await account.rest("PATCH", `/endpoints/${id}`, { gpuTypeIds: ["NVIDIA H200"] });
    const response = await account.graphql(`{ myself { endpoint(id: "${id}") { gpuIds } } }`);
    expectResponse(response, 200, { data: { myself: { endpoint: { gpuIds: "HOPPER_141" } } } });
  });

  test.each([
    ["OFF", false],
    ["FLASHBOOT", true],
    ["PRIORITY_FLASHBOOT", true],
  ])("flashBootType %s is returned, in REST with flashboot %s", async (flashBootType, flashboot) => {
    const saved = await saveEndpoint({ flashBootType }, "flashBootType");
    expect(saved).toMatchObject({ flashBootType });
    const shown = await account.rest("GET", `/endpoints/${at(saved, "id")}`);
    expectResponse(shown, 200, { flashboot, flashBootType });
  });

  test("saveEndpoint with fields that have no effect here, and null model references", async () => {
    const without = { userId: "user", hubReleaseId: "hub", bindEndpoint: true, modelName: "model" };
    const fields = { modelReferences: ["https://hub/acme/model", null], ...without };
    expect(await saveEndpoint(fields, "modelReferences")).toMatchObject({
      modelReferences: ["https://hub/acme/model"],
    });
  });

  test("saveEndpoint with a nested template creates a serverless template without a volume", async () => {
    const name = uniqueName("template");
    const { volumeInGb: _volume, isServerless: _serverless, ...template } = templateFields({ name });
    account.discardTemplate(name);
    const saved = await saveEndpoint({ template }, "template { name isServerless volumeInGb }");
    expect(saved).toMatchObject({ template: { name, isServerless: true, volumeInGb: 0 } });
  });

  test("a template of the category GPU, and a volume of the next generation of storage", async () => {
    const id = await account.template({ category: "GPU" });
    expectResponse(await account.rest("GET", `/templates/${id}`), 200, { category: "GPU" });
    const input = { name: uniqueName("volume"), size: 1, dataCenterId: "EU-RO-1", isNextGenStorage: true };
    const create = "mutation ($input: CreateNetworkVolumeInput!) { createNetworkVolume(input: $input) { id } }";
    const created = stringAt(await account.graphql(create, { input }), "data", "createNetworkVolume", "id");
    expectResponse(await account.rest("DELETE", `/networkvolumes/${created}`), 204);
  });

  test.each(["endpoints", "networkvolumes", "pods"])("GET /billing/%s returns a list", async (what) => {
    const response = await account.rest("GET", `/billing/${what}?bucketSize=day`);
    expectResponse(response, 200);
    expect(Array.isArray(response.json)).toBe(true);
  });
});

describe("Clients of the hosted service: the account and its templates", () => {
  test("updateUserSettings stores the values, and myself returns them", async () => {
    const save = "mutation ($input: UpdateUserSettingsInput) { updateUserSettings(input: $input) { id pubKey } }";
    const pubKey = `ssh-ed25519 ${uniqueName("key")}`;
    const saved = await account.graphql(save, { input: { pubKey } });
    expectResponse(saved, 200, { data: { updateUserSettings: { pubKey } } });
    await account.graphql(save, { input: { notifyLowBalance: true } });
    const shown = await account.graphql("{ myself { pubKey notifyLowBalance notifyPodsStale } }");
    expectResponse(shown, 200, { data: { myself: { pubKey, notifyLowBalance: true, notifyPodsStale: false } } });
    expect(message(await account.graphql(save, { input: null }))).toBe("input: is required and must be an object");
  });

  test("podTemplates lists all templates, or the requested templates", async () => {
    const ids = [await account.template(), await account.template()];
    const query = "query ($input: PodTemplateFilter) { podTemplates(input: $input) { id name imageName } }";
    const all = at((await account.graphql(query)).json, "data", "podTemplates");
    for (const id of ids) expect(all).toContainEqual(expect.objectContaining({ id }));
    const [id] = ids;
    const named = await account.graphql(query, { input: { ids: [id] } });
    expectResponse(named, 200);
    expect(at(named.json, "data", "podTemplates")).toEqual([expect.objectContaining({ id })]);
  });

  test("deleteEndpoint deletes an endpoint whose workersMax is not 0", async () => {
    const id = await account.endpoint({ workersMax: 2 });
    const response = await account.graphql(`mutation { deleteEndpoint(id: "${id}") }`);
    expectResponse(response, 200, { data: { deleteEndpoint: null } });
    expectResponse(await account.rest("GET", `/endpoints/${id}`), 404);
  });

  test("deleteRegistryAuth removes the credentials from templates that use them", async () => {
    const body = { name: uniqueName("registry"), username: "reader", password: "hush-hush" };
    const id = stringAt(await account.rest("POST", "/containerregistryauth", body), "id");
    const template = await account.template({ containerRegistryAuthId: id });
    const remove = `mutation { deleteRegistryAuth(registryAuthId: "${id}") }`;
    expectResponse(await account.graphql(remove), 200, { data: { deleteRegistryAuth: null } });
    const shown = await account.graphql(`{ podTemplate(id: "${template}") { containerRegistryAuthId } }`);
    expectResponse(shown, 200, { data: { podTemplate: { containerRegistryAuthId: null } } });
  });
});

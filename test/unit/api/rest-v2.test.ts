import type { ManagementClient } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import { apiErrorOf, startRig } from "../../support/client-rig";
import { type Behaviour, json, type ReceivedRequest } from "../../support/faulty-server";

const mark = "SERVERLESS_COMPUTE_TEMPLATE_ID";
const container = { image: "acme/chat:1", disk: 20, args: "--fast", ports: [] as string[], registry: null };
const template = { id: "t1", name: "chat", ...container, env: { MODEL: "small" }, serverless: true };
const endpoint = { id: "e1", name: "chat", ...container, env: { MODEL: "small", [mark]: "t1" } };
const secret = { id: "s1", name: "hub", createdAt: "2026-11-01T00:00:00Z" };
const credentials = { username: "robot", password: "hushed" };
const gpus = [
  { id: "NVIDIA L4", name: "L4", manufacturer: "NVIDIA", memory: 24, pool: "AMPERE_24", price: { serverless: 0.684 } },
  { id: "NVIDIA RTX A5000", pool: "AMPERE_24", price: { secure: 1 } },
  { id: "NVIDIA A30", pool: null, secure: "a field that is not used" },
];

/** Responses by the end of a request's path. */
const responses: [path: RegExp, response: object][] = [
  [/\/serverless$/, { endpoints: [endpoint], ...endpoint }],
  [/\/templates$/, { templates: [template], ...template }],
  [/\/network-volumes/, { networkVolumes: [], id: "v1", name: "models", size: 10, dataCenter: "EU-RO-1" }],
  [/\/secrets/, { secrets: [secret], ...secret }],
  [/\/registries/, { registries: [], id: "r1", name: "ghcr" }],
  [/\/gpus/, { gpus }],
  [/\/limits$/, { serverlessWorkers: { limit: null, used: 5 } }],
  [/\/releases$/, { endpointVersion: 2, releases: [] }],
  [/\/workers$/, { endpointVersion: 2, workers: [] }],
  [/\/templates\//, template],
  [/\/serverless\//, endpoint],
];
const respond = ({ method, url }: ReceivedRequest): Behaviour =>
  method === "DELETE" ? { action: "respond", status: 204 } : json(responses.find(([path]) => path.test(url))?.[1]);

/** Clients of REST v2 at a server with these responses. */
async function startV2(plan: Parameters<typeof startRig>[0] = respond) {
  const rig = await startRig(plan, { dialect: "v2" });
  const sent = () => rig.requests.map(({ method, url, body }) => `${method} ${url} ${body}`.trim());
  return { ...rig, management: rig.clients.management, sent };
}

/** A container for a copy of a template. */
const copy = {
  templateId: "t1",
  imageName: "acme/chat:2",
  dockerArgs: "",
  env: { MODEL: "large" },
  ports: "",
  containerDiskInGb: 5,
  containerRegistryAuthId: null,
};

type Call = (management: ManagementClient) => Promise<unknown> | undefined;

test.each<[request: string, call: Call]>([
  ["GET /v2/templates/t1", (management) => management.readTemplate("t1")],
  ["GET /v2/templates", (management) => management.listTemplates()],
  ['PATCH /v2/templates/t1 {"name":"talk"}', (management) => management.updateTemplate("t1", { name: "talk" })],
  ["DELETE /v2/templates/t1", (management) => management.deleteTemplate("t1")],
  ["GET /v2/serverless/e1", (management) => management.readEndpoint("e1")],
  ["GET /v2/serverless", (management) => management.listEndpoints()],
  ["GET /v2/serverless/e1/releases", (management) => management.readReleases("e1")],
  ["GET /v2/serverless/e1/workers", (management) => management.readWorkers("e1")],
  ['PATCH /v2/serverless/e1 {"workers":{"max":2}}', (management) => management.updateEndpoint("e1", { workersMax: 2 })],
  ["DELETE /v2/serverless/e1", (management) => management.deleteEndpoint("e1")],
  [
    'POST /v2/network-volumes {"name":"models","size":10,"dataCenter":"EU-RO-1"}',
    (management) => management.createNetworkVolume({ name: "models", size: 10, dataCenterId: "EU-RO-1" }),
  ],
  ["GET /v2/network-volumes/v1", (management) => management.readNetworkVolume("v1")],
  ["GET /v2/network-volumes", (management) => management.listNetworkVolumes()],
  ['PATCH /v2/network-volumes/v1 {"size":20}', (management) => management.updateNetworkVolume("v1", { size: 20 })],
  ["DELETE /v2/network-volumes/v1", (management) => management.deleteNetworkVolume("v1")],
  [
    'POST /v2/account/secrets {"name":"hub","value":"quiet"}',
    (management) => management.createSecret({ name: "hub", value: "quiet", description: "" }),
  ],
  ["GET /v2/account/secrets/s1", (management) => management.readSecret?.("s1")],
  ["GET /v2/account/secrets", (management) => management.listSecrets()],
  ["GET /v2/registries/r1", (management) => management.readRegistryAuth?.("r1")],
  [
    'PATCH /v2/account/secrets/s1 {"value":"quieter"}',
    (management) => management.updateSecretValue({ id: "s1", value: "quieter" }),
  ],
  [
    'PATCH /v2/account/secrets/s1 {"description":"for the hub"}',
    (management) => management.updateSecretDescription({ id: "s1", description: "for the hub" }),
  ],
  ["DELETE /v2/account/secrets/s1", (management) => management.deleteSecret("s1")],
  [
    'POST /v2/registries {"name":"ghcr","username":"robot","password":"hushed"}',
    (management) => management.createRegistryAuth({ name: "ghcr", ...credentials }),
  ],
  ["GET /v2/registries", (management) => management.listRegistryAuths()],
  ["DELETE /v2/registries/r1", (management) => management.deleteRegistryAuth("r1")],
])("one call sends %s", async (request, call) => {
  const { management, sent } = await startV2();
  await call(management);
  expect(sent()).toEqual([request]);
});

test("a change of saved credentials is rejected before any request", async () => {
  const { management, requests } = await startV2();
  const error = await apiErrorOf(management.updateRegistryAuth({ id: "r1", ...credentials }));
  expect(error).toMatchObject({ code: "invalid_argument", request: { method: "PATCH" } });
  expect(error.message).toBe("REST v2 cannot change saved credentials; save new ones under another name");
  expect(requests).toEqual([]);
});

test("workers are read again after a lost connection", async () => {
  const { management, result, requests } = await startV2((request, count) =>
    count === 1 ? { action: "hang up" } : respond(request),
  );
  expect(await result(management.readWorkers("e1"))).toEqual({ version: 2, workers: [] });
  expect(requests).toHaveLength(2);
});

describe("a new endpoint", () => {
  const settings = { name: "chat", templateId: "t1", workersMax: 1 };
  const bodyOf = (requests: readonly ReceivedRequest[]) => JSON.parse(requests.at(-1)?.body ?? "null");

  test("has a copy of its template with a variable that names it, and all pools without GPU types", async () => {
    const { management, requests, sent } = await startV2();
    await management.createEndpoint(settings);
    expect(sent().slice(0, -1)).toEqual(["GET /v2/templates/t1", "GET /v2/catalog/gpus"]);
    expect(bodyOf(requests)).toMatchObject({
      image: "acme/chat:1",
      args: "--fast",
      env: { MODEL: "small", [mark]: "t1" },
      gpu: { pools: ["AMPERE_24"], excludedTypes: [] },
      networkVolumes: [],
    });
  });

  test("for CPUs requests no catalog", async () => {
    const { management, requests, sent } = await startV2();
    await management.createEndpoint({ ...settings, computeType: "CPU" });
    expect(sent().slice(0, -1)).toEqual(["GET /v2/templates/t1"]);
    expect(bodyOf(requests)).toMatchObject({ cpu: [{ id: "cpu3c", vcpuCount: 2 }] });
    expect(bodyOf(requests)).not.toHaveProperty("gpu");
  });

  test("of a template read before sends one request", async () => {
    const { management, sent } = await startV2();
    await management.createEndpoint(settings);
    const before = sent().length;
    await management.createEndpoint(settings);
    expect(sent().slice(before)).toEqual([expect.stringMatching(/^POST \/v2\/serverless /)]);
  });

  test.each<[string, Call]>([
    ["deleted", (management) => management.deleteTemplate("t1")],
    ["changed", (management) => management.updateTemplate("t1", { name: "talk" }).catch(() => {})],
  ])("of a template that was %s reads the template again", async (_what, call) => {
    const { management, sent } = await startV2((request) => {
      return request.method === "PATCH" ? json({ title: "Bad Request", status: 400 }, 400) : respond(request);
    });
    await management.createEndpoint(settings);
    await call(management);
    await management.createEndpoint(settings);
    expect(sent().filter((request) => request === "GET /v2/templates/t1")).toHaveLength(2);
  });

  test("of a changed template has its settings, although a later list shows the earlier ones", async () => {
    const changed = { ...template, image: "acme/chat:2" };
    const { management, requests } = await startV2((request) => {
      return request.method === "PATCH" ? json(changed) : respond(request);
    });
    await management.updateTemplate("t1", { imageName: "acme/chat:2" });
    await management.listTemplates();
    await management.createEndpoint(settings);
    expect(bodyOf(requests)).toMatchObject({ image: "acme/chat:2" });
  });

  test.each<[string, Behaviour, code: string]>([
    [
      "does not exist",
      json({ title: "Not Found", status: 404, detail: "template not found" }, 404),
      "template_not_found",
    ],
    ["cannot be read", json({ title: "Forbidden", status: 403 }, 403), "forbidden"],
  ])("whose template %s fails, and the next create reads it again", async (_what, failure, code) => {
    const { management, sent } = await startV2((request, count) => (count === 1 ? failure : respond(request)));
    const error = await apiErrorOf(management.createEndpoint(settings));
    expect(error).toMatchObject({ code, ambiguous: false });
    expect(sent()).toEqual(["GET /v2/templates/t1"]);
    await management.createEndpoint(settings);
    expect(sent()[1]).toBe("GET /v2/templates/t1");
  });
});

test("a change of a variable sends all of the program if the service does not show the container", async () => {
  const { management, requests } = await startV2((request) =>
    request.method === "GET" ? json({ id: "e1", name: "chat" }) : respond(request),
  );
  const env = { A: "1", B: "2" };
  const isChangedVariable = (name: string): boolean => name === "A";
  await management.updateEndpoint("e1", { env }, { settings: { imageName: "acme/chat:1", env }, isChangedVariable });
  expect(JSON.parse(requests.at(-1)?.body ?? "null")).toMatchObject({ env });
});

describe("a change of an endpoint", () => {
  test.each<[string, changes: object, settings: object, gpu: object | undefined]>([
    ["the GPU types", { gpuTypeIds: ["NVIDIA L4"] }, {}, { pools: ["AMPERE_24"], excludedTypes: ["NVIDIA RTX A5000"] }],
    [
      "the excluded types",
      { excludedGpuTypeIds: ["NVIDIA L4"] },
      {},
      { pools: ["AMPERE_24"], excludedTypes: ["NVIDIA L4"] },
    ],
    ["the pools", { gpuPools: ["AMPERE_24"] }, {}, { pools: ["AMPERE_24"], excludedTypes: [] }],
    ["the GPU types of a CPU endpoint", { gpuTypeIds: ["NVIDIA L4"] }, { computeType: "CPU" }, undefined],
    ["the name", { name: "talk" }, { gpuTypeIds: ["NVIDIA L4"] }, undefined],
  ])("of %s sends pools only for new GPU types", async (_what, changes, settings, gpu) => {
    const { management, requests, sent } = await startV2();
    await management.updateEndpoint("e1", changes, { settings: { ...changes, ...settings } });
    expect(sent().slice(0, -1)).toEqual(gpu ? ["GET /v2/catalog/gpus"] : []);
    expect(JSON.parse(requests.at(-1)?.body ?? "").gpu).toEqual(gpu);
  });

  test("of a copy sends its container with a variable that names the template", async () => {
    const { management, requests, sent } = await startV2();
    await management.updateCopy?.({ id: "e1" }, copy);
    expect(sent()).toHaveLength(1);
    expect(JSON.parse(requests.at(-1)?.body ?? "")).toMatchObject({
      image: "acme/chat:2",
      env: { MODEL: "large", [mark]: "t1" },
    });
  });
});

test("a change of the template fails without a PATCH if the template does not exist", async () => {
  const { management, sent } = await startV2([
    json({ title: "Not Found", status: 404, detail: "template not found" }, 404),
  ]);
  const error = await apiErrorOf(management.updateEndpoint("e1", { templateId: "t2" }));
  expect(error).toMatchObject({ code: "template_not_found", request: { method: "PATCH" } });
  expect(sent()).toEqual(["GET /v2/templates/t2"]);
});

test("a listed endpoint names the template whose marked copy it has", async () => {
  const copies = [endpoint, { ...endpoint, id: "e2", env: { [mark]: "t2" } }, { ...endpoint, id: "e3", env: {} }];
  const list = [...copies, { id: "e4", name: "hidden" }];
  const { management } = await startV2((request) =>
    /serverless$/.test(request.url) ? json({ endpoints: list }) : respond(request),
  );
  const endpoints = await management.listEndpoints();
  expect(endpoints.map(({ templateId }) => templateId)).toEqual(["t1", "t2", undefined, undefined]);
});

describe("the catalog", () => {
  test("is requested again after a failure, and then once", async () => {
    const { management, requests } = await startV2((request, count) =>
      count === 1 ? json({ title: "Forbidden", status: 403 }, 403) : respond(request),
    );
    expect(await apiErrorOf(management.listGpuTypes())).toMatchObject({ code: "forbidden" });
    expect(await management.listGpuTypes()).toEqual([
      { id: "NVIDIA L4", name: "L4", manufacturer: "NVIDIA", memoryInGb: 24, pool: "AMPERE_24", price: 0.684 },
      { id: "NVIDIA RTX A5000", name: "NVIDIA RTX A5000", pool: "AMPERE_24" },
      { id: "NVIDIA A30", name: "NVIDIA A30" },
    ]);
    await management.listGpuTypes();
    expect(requests).toHaveLength(2);
    expect(await management.readWorkerQuota()).toEqual({ limit: undefined, used: 5 });
  });

  test("contains prices of CPU flavours, of which 0 is unknown, and names of data centres, which may be absent", async () => {
    const { management } = await startV2(({ url }) =>
      url.endsWith("/cpus")
        ? json({
            cpus: [
              { id: "cpu3c", price: { serverlessPerVcpu: 0.1 } },
              { id: "cpu5c", price: { serverlessPerVcpu: 0 } },
              { id: "cpu5g" },
            ],
          })
        : json({ dataCenters: [{ id: "EU-RO-1", name: "Romania", region: "EUROPE" }, { id: "US-KS-2" }] }),
    );
    expect(await management.listCpuTypes?.()).toEqual([
      { id: "cpu3c", pricePerVcpu: 0.1 },
      { id: "cpu5c", pricePerVcpu: undefined },
      { id: "cpu5g", pricePerVcpu: undefined },
    ]);
    expect(await management.listDataCenters()).toEqual([
      { id: "EU-RO-1", name: "Romania", region: "EUROPE" },
      { id: "US-KS-2", name: "US-KS-2", region: undefined },
    ]);
  });
});

import type { UnreadableElement } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import { apiErrorOf, startRig } from "../../support/client-rig";
import { json } from "../../support/faulty-server";
import { endpointRecord, volumeRecord } from "../../support/records";

const gone = { action: "respond", status: 204 } as const;

test("each operation sends the request of the interface", async () => {
  const { clients, requests } = await startRig((request) => {
    if (request.method === "DELETE") return gone;
    const record = request.url.includes("networkvolumes") ? volumeRecord() : endpointRecord();
    return json(request.method === "GET" && !request.url.includes("/id") ? [record] : record);
  });
  const { management } = clients;
  await management.createEndpoint({ name: "chat", templateId: "t", workersMax: 2 });
  await management.readEndpoint("id1");
  await management.listEndpoints();
  await management.updateEndpoint("id1", { workersMax: 0, networkVolumeId: null });
  await management.deleteEndpoint("id1");
  await management.createNetworkVolume({ name: "models", size: 10, dataCenterId: "EU-RO-1" });
  await management.readNetworkVolume("id2");
  await management.listNetworkVolumes();
  await management.updateNetworkVolume("id2", { size: 20 });
  await management.deleteNetworkVolume("id2");
  expect(requests.map(({ method, url, body }) => `${method} ${url} ${body}`.trim())).toEqual([
    'POST /v1/endpoints {"name":"chat","templateId":"t","workersMax":2}',
    "GET /v1/endpoints/id1",
    "GET /v1/endpoints",
    'PATCH /v1/endpoints/id1 {"workersMax":0,"networkVolumeId":""}',
    "DELETE /v1/endpoints/id1",
    'POST /v1/networkvolumes {"name":"models","size":10,"dataCenterId":"EU-RO-1"}',
    "GET /v1/networkvolumes/id2",
    "GET /v1/networkvolumes",
    'PATCH /v1/networkvolumes/id2 {"size":20}',
    "DELETE /v1/networkvolumes/id2",
  ]);
  for (const { body, headers } of requests) {
    expect(headers["content-type"]).toBe(body === "" ? undefined : "application/json");
  }
});

test("workers are read with the version of their endpoint", async () => {
  const worker = { id: "w1", version: 2, desiredStatus: "RUNNING" };
  const plan = [json(endpointRecord({ version: 3, workers: [worker] })), json(endpointRecord({ workers: null }))];
  const { clients, requests } = await startRig(plan);
  expect(await clients.management.readWorkers("id1")).toEqual({
    version: 3,
    workers: [expect.objectContaining(worker)],
  });
  expect(await clients.management.readWorkers("id1")).toEqual({ version: undefined, workers: [] });
  expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(
    Array<string>(2).fill("GET /v1/endpoints/id1?includeWorkers=true"),
  );
});

test("a create for CPUs sends GPU settings only with GPU types, CPU flavours only if it has any, and no null", async () => {
  const { clients, requests } = await startRig([json(endpointRecord())]);
  const cpu = { name: "chat", templateId: "t", computeType: "CPU", gpuCount: 1, networkVolumeId: null } as const;
  await clients.management.createEndpoint({ ...cpu, cpuFlavorIds: [] });
  await clients.management.createEndpoint({ ...cpu, gpuTypeIds: ["NVIDIA L4"], cpuFlavorIds: ["cpu3c"] });
  await clients.management.createEndpoint({ ...cpu, computeType: "GPU" });
  expect(requests.map(({ body }) => JSON.parse(body))).toEqual([
    { name: "chat", templateId: "t", computeType: "CPU" },
    {
      name: "chat",
      templateId: "t",
      computeType: "CPU",
      gpuTypeIds: ["NVIDIA L4"],
      gpuCount: 1,
      cpuFlavorIds: ["cpu3c"],
    },
    { name: "chat", templateId: "t", computeType: "GPU", gpuCount: 1 },
  ]);
});

test("unknown fields are ignored, and missing fields are not errors", async () => {
  const { clients } = await startRig([json(endpointRecord({ shinyNewField: 1, gpuTypeIds: null }))]);
  const endpoint = await clients.management.readEndpoint("id");
  expect(endpoint).toMatchObject({ gpuTypeIds: [], dataCenterIds: [] });
  expect(endpoint?.computeType).toBeUndefined();
});

describe("a missing object", () => {
  test("reads as undefined", async () => {
    const { clients } = await startRig([json({ message: 'endpoint "x" not found' }, 404)]);
    expect(await clients.management.readEndpoint("x")).toBeUndefined();
    expect(await clients.management.readNetworkVolume("x")).toBeUndefined();
  });

  test.each([
    [400, "invalid network volume id"],
    [400, 'invalid endpoint id: endpoint "x" not found'],
    [400, ""],
    [404, ""],
  ])("a delete with %i %j rejects as missing", async (status, message) => {
    const { clients } = await startRig([json(message === "" ? undefined : { message }, status)]);
    expect(await apiErrorOf(clients.management.deleteNetworkVolume("x"))).toMatchObject({ category: "missing" });
    expect(await apiErrorOf(clients.management.deleteEndpoint("x"))).toMatchObject({ category: "missing" });
  });

  test.each([
    ["an unknown route of a web server", json({ message: "Route GET:/endpoints/x not found" }, 404)],
    ["an HTML page", { action: "respond", status: 404, body: "<!doctype html><title>Not here</title>" } as const],
  ])("%s is a wrong address, not a missing object", async (_what, response) => {
    const { clients } = await startRig([response]);
    const error = await apiErrorOf(clients.management.readEndpoint("x"));
    expect(error).toMatchObject({ category: "invalid", code: "wrong_address" });
  });

  test("a missing collection is a wrong address", async () => {
    const { clients } = await startRig([{ action: "respond", status: 404 }]);
    expect(await apiErrorOf(clients.management.listEndpoints())).toMatchObject({ code: "wrong_address" });
  });
});

test("an endpoint that must be scaled down first is in use", async () => {
  const message = 'endpoint "chat" still allows workers: set workersMin and workersMax to 0 before deleting it';
  const { clients } = await startRig([json({ message }, 400)]);
  const error = await apiErrorOf(clients.management.deleteEndpoint("x"));
  expect(error).toMatchObject({ category: "inUse", code: "endpoint_has_workers", message });
});

describe("a template that the service does not know yet", () => {
  const unknown = json({ message: 'templateId: template "t" does not exist' }, 400);

  test("is retried every 250 ms by a create and by an update that sets it", async () => {
    const { clients, clock, result, requests } = await startRig((_request, count) =>
      count % 4 === 0 ? json(endpointRecord()) : unknown,
    );
    const start = clock.now();
    await result(clients.management.createEndpoint({ templateId: "t" }));
    expect(requests).toHaveLength(4);
    expect(clock.now() - start).toBe(750);
    await result(clients.management.updateEndpoint("id", { templateId: "t" }));
    expect(requests).toHaveLength(8);
  });

  test("fails after ten retries", async () => {
    const { clients, failure, requests } = await startRig([unknown]);
    const error = await failure(clients.management.createEndpoint({ templateId: "t" }));
    expect(error).toMatchObject({ category: "invalid", code: "template_not_found", ambiguous: false });
    expect(requests).toHaveLength(11);
  });

  test("is not awaited by an update that does not name one", async () => {
    const { clients, failure, requests } = await startRig([json({ message: 'endpoint "id" not found' }, 404)]);
    expect(await failure(clients.management.updateEndpoint("id", { workersMax: 1 }))).toMatchObject({
      category: "missing",
    });
    expect(requests).toHaveLength(1);
  });
});

describe("an invalid response", () => {
  const cases: [string, Parameters<typeof startRig>[0], string][] = [
    ["is truncated JSON", [{ action: "respond", status: 200, body: '{"id":"a' }], "not valid JSON"],
    ["is empty", [{ action: "respond", status: 200 }], "not valid JSON"],
    ["is an HTML page", [{ action: "respond", status: 200, body: "<html></html>" }], "not valid JSON"],
    ["lacks a field", [json({ name: "v", size: 1, dataCenterId: "EU" })], '"id"'],
    ["has a field of another type", [json(volumeRecord({ size: "big" }))], '"size"'],
    ["is null", [json(null)], "expected object"],
  ];

  test.each(cases)("that %s is named, and a create may have been applied", async (_what, plan, detail) => {
    const { clients, requests } = await startRig(plan);
    const { management } = clients;
    const created = await apiErrorOf(management.createNetworkVolume({ name: "v", size: 1, dataCenterId: "EU" }));
    expect(created).toMatchObject({
      category: "server",
      code: "unexpected_response",
      retryable: false,
      ambiguous: true,
    });
    expect(created.message).toContain(detail);
    const read = await apiErrorOf(management.readNetworkVolume("v"));
    expect(read).toMatchObject({ code: "unexpected_response", ambiguous: false });
    expect(requests).toHaveLength(2);
  });

  test("in a list names the element, and does not affect the others if the caller handles it", async () => {
    const { clients } = await startRig([json([volumeRecord(), volumeRecord({ id: "bad", name: 3 }), null])]);
    expect((await apiErrorOf(clients.management.listNetworkVolumes())).message).toContain('"[1].name"');
    const unreadable: UnreadableElement[] = [];
    const found = await clients.management.listNetworkVolumes({
      onUnreadable: (element) => void unreadable.push(element),
    });
    expect(found).toEqual([volumeRecord()]);
    expect(unreadable.map(({ id, name, error }) => [id, name, error.code, error.message])).toEqual([
      ["bad", undefined, "unexpected_response", expect.stringContaining('"[1].name"')],
      [undefined, undefined, "unexpected_response", expect.stringContaining('"[2]"')],
    ]);
  });
});

test.each(["v1", "v2"] as const)(
  "a delete whose response is a page of another server is no success with REST %s",
  async (dialect) => {
    const { clients } = await startRig(() => ({ action: "respond", status: 200, body: "<html>Sign in</html>" }), {
      dialect,
    });
    expect(await apiErrorOf(clients.management.deleteNetworkVolume("x"))).toMatchObject({
      code: "unexpected_response",
    });
  },
);

import { expect, onTestFinished, test } from "vitest";
import { drainViolations, tolerateViolations } from "../../support/contract-watch";
import { type Behaviour, json, startFaultyServer } from "../../support/faulty-server";
import { startRecordingProxy } from "../../support/recording-proxy";

const volume = { id: "v1", name: "models", size: 20, dataCenter: "EU-RO-1", type: "STANDARD" };

async function start(behaviours: Behaviour[]) {
  const origin = await startFaultyServer(behaviours);
  const proxy = await startRecordingProxy(origin.origin);
  onTestFinished(() => proxy.close());
  const call = async (method: string, path: string, body?: object): Promise<void> => {
    const init = body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(proxy.origin + path, { method, ...init });
    // An injected fault may truncate it.
    await response.text().catch(() => "");
  };
  return { proxy, call };
}

test("valid traffic causes no violation, and paths of other APIs are not checked", async () => {
  const { dataCenter: dataCenterId, ...ofV1 } = volume;
  const { call } = await start([json(volume), json({ ...ofV1, dataCenterId }), json({ anything: 1 })]);
  await call("GET", "/v2/network-volumes/v1");
  await call("GET", "/v1/networkvolumes/v1");
  await call("POST", "/v2/some-endpoint/run", { input: {} });
  expect(drainViolations()).toEqual([]);
});

test("a violation names route, property and rule, of the request and of the response", async () => {
  const { call } = await start([json({ ...volume, size: "20" }, 201)]);
  await call("POST", "/v2/network-volumes", { name: "models", size: 5, dataCenter: "EU-RO-1" });
  expect(drainViolations()).toEqual([
    "POST /v2/network-volumes: request: body.size: minimum: must be >= 10",
    "POST /v2/network-volumes: response: body.size: type: must be integer",
  ]);
});

test("REST v1 is checked as far as it is described", async () => {
  const { call } = await start([json({ id: "e1", idleTimeout: "5" }), json({ message: "no such endpoint" }, 404)]);
  await call("PATCH", "/v1/endpoints/e1", { minCudaVersion: null, computeType: "CPU" });
  await call("GET", "/v1/endpoints/e2?includeTemplate=maybe");
  expect(drainViolations()).toEqual([
    "PATCH /v1/endpoints/{id}: request: body.computeType: additionalProperties: must NOT have additional properties",
    "PATCH /v1/endpoints/{id}: request: body.minCudaVersion: type: must be string",
    "PATCH /v1/endpoints/{id}: request: body.minCudaVersion: enum: must be equal to one of the allowed values",
    "PATCH /v1/endpoints/{id}: response: body.idleTimeout: type: must be integer",
    expect.stringMatching(/^GET \/v1\/endpoints\/\{id\}: request: query\.includeTemplate: pattern/),
  ]);
});

test("responses injected by the proxy are not checked; responses of the origin are", async () => {
  const { proxy, call } = await start([json({})]);
  proxy.inject({}, { kind: "status", status: 503 });
  await call("GET", "/v2/network-volumes");
  proxy.alter({}, () => "altered");
  proxy.inject({}, { kind: "halfBody" });
  await call("GET", "/v2/network-volumes");
  const missing = "required: must have required property 'networkVolumes'";
  expect(drainViolations()).toEqual([`GET /v2/network-volumes: response: body.networkVolumes: ${missing}`]);
});

test("only the violations that a test file tolerates are ignored", async () => {
  tolerateViolations(/^POST \/v2\/registries: request: body\.password: /);
  const { call } = await start([json({ title: "x", status: 422, detail: "y" }, 422, { "content-type": "text/plain" })]);
  await call("POST", "/v2/registries", { name: "mine", username: "" });
  expect(drainViolations()).toEqual([
    "POST /v2/registries: request: body.username: minLength: must NOT have fewer than 1 characters",
    "POST /v2/registries: response: headers.Content-Type: must be application/problem+json",
  ]);
});

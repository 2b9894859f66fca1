import { describe, expect, test } from "vitest";
import type { Fields } from "../support/local-service";
import { at, expectResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { expectProblem, useRestV2 } from "./support/rest-v2";

const target = await useTarget({ templateRelease: 0 });
const account = useAccount(target);
const { call, make, endpointBody } = useRestV2(target, account);

/** Fields of an endpoint on CPUs. */
const onCpus = (id: string, vcpuCount: number): Fields => ({ gpu: undefined, cpu: [{ id, vcpuCount }] });

/** Creates an endpoint. Returns the requests that read and change it. */
async function newEndpoint(fields?: Fields) {
  const id = await make("/serverless", endpointBody(fields));
  return {
    read: () => call("GET", `/serverless/${id}`),
    patch: (body: Fields) => call("PATCH", `/serverless/${id}`, body),
    readByV1: () => account.rest("GET", `/endpoints/${id}`),
  };
}

/** Scaling by requests; queues with this scaling have no idle timeout. */
const byCount = { scaling: { type: "REQUEST_COUNT", requestCount: 1 }, workers: { max: 0, idleTimeout: 9 } };

describe("REST v2: POST /serverless", () => {
  test("sets the defaults of omitted fields", async () => {
    const { read } = await newEndpoint({ workers: undefined });
    expectResponse(await read(), 200, {
      workers: { min: 0, max: 3, idleTimeout: 10 },
      timeout: 0,
      flashboot: "OFF",
      dataCenterIds: [],
      networkVolumes: [],
      args: "",
      entrypoint: [],
      cmd: [],
      env: {},
      ports: [],
      registry: null,
      gpu: { pools: ["AMPERE_24"], excludedTypes: [], count: 1, allowedCudaVersions: [] },
    });
  });

  test("GET and the list return CPU and load-balancer endpoints as POST returned them", async () => {
    const balanced = { type: "LOAD_BALANCER", scaling: { type: "REQUEST_COUNT", requestCount: 7 } };
    for (const fields of [onCpus("cpu3g", 4), balanced]) {
      const { json: created } = await call("POST", "/serverless", endpointBody(fields));
      const { json: read } = await call("GET", `/serverless/${at(created, "id")}`);
      expect(read).toEqual(created);
      const { json: listed } = await call("GET", "/serverless?limit=1000");
      expect(at(listed, "endpoints")).toContainEqual(created);
      // Renamed back, so that a PATCH returns the same endpoint.
      const { json: changed } = await call("PATCH", `/serverless/${at(created, "id")}`, { name: at(created, "name") });
      expect(changed).toEqual(created);
    }
  });

  test("cpu creates an endpoint of CPU instances with their memory", async () => {
    const body = endpointBody(onCpus("cpu3g", 4));
    const response = await call("POST", "/serverless", body);
    expectResponse(response, 201, { cpu: [{ id: "cpu3g", vcpuCount: 4, memory: 16 }] });
    expect(response.json).not.toHaveProperty("gpu");
    const own = `/serverless/${stringAt(response, "id")}`;
    expectProblem(await call("PATCH", own, { gpu: { pools: ["ADA_24"] } }), 400, /gpu/);
    expectResponse(await call("PATCH", own, { cpu: [{ id: "cpu5c", vcpuCount: 2 }] }), 200, {
      cpu: [{ id: "cpu5c", vcpuCount: 2, memory: 4 }],
    });
  });

  test.each<[string, Fields, RegExp]>([
    ["neither gpu nor cpu", { gpu: undefined }, /exactly one/],
    ["both gpu and cpu", { cpu: [{ id: "cpu3c", vcpuCount: 2 }] }, /exactly one/],
    [
      "both kinds of CUDA constraints",
      { gpu: { pools: ["ADA_24"], allowedCudaVersions: ["12.8"], minCudaVersion: "12.4" } },
      /cannot be combined with minCudaVersion/,
    ],
    [
      "an excluded type of another pool",
      { gpu: { pools: ["ADA_24"], excludedTypes: ["NVIDIA L4"] } },
      /none of the pools/,
    ],
    ["no remaining type", { gpu: { pools: ["ADA_24"], excludedTypes: ["NVIDIA GeForce RTX 4090"] } }, /one type/],
    [
      "a CPU flavour with a number in its id",
      onCpus("cpu3c-8", 4),
      /^cpu: "cpu3c-8" is not allowed; must be one of cpu3c/,
    ],
    ["a number of CPUs that is not a power of two", onCpus("cpu3c", 6), /power of two/],
    ["more CPUs than the flavour supports", onCpus("cpu3c", 64), /power of two up to 32/],
    ["args and a different cmd", { args: "python h.py", cmd: ["node", "h.mjs"] }, /same command/],
  ])("with %s is 400", async (_what, fields, detail) => {
    expectProblem(await call("POST", "/serverless", endpointBody(fields)), 400, detail);
  });

  test.each<[string, Fields]>([
    ["scaling.requestCount", { scaling: { type: "QUEUE_DELAY", queueDelay: 4, requestCount: 1 } }],
    ["gpu.excludedTypes", { gpu: { pools: ["ADA_24"], excludedTypes: ["x", "x"] } }],
    ["gpu.excludedTypes.0", { gpu: { pools: ["ADA_24"], excludedTypes: ["-x"] } }],
    ["scaling.type", { type: "LOAD_BALANCER" }],
    ["workers.idleTimeout", { scaling: { type: "REQUEST_COUNT", requestCount: 1 }, workers: { idleTimeout: 9 } }],
  ])("with a wrong %s is 422 and names it", async (property, fields) => {
    const response = await call("POST", "/serverless", endpointBody(fields));
    expectProblem(response, 422, "Request validation failed.");
    expect(at(response.json, "errors", 0)).toMatch(new RegExp(`^${property.replaceAll(".", "\\.")}: `));
  });

  test("a queueDelay of half a second is stored; REST v1 returns whole seconds", async () => {
    const scaling = { type: "QUEUE_DELAY", queueDelay: 0.5 };
    const { read, readByV1 } = await newEndpoint({ scaling });
    expectResponse(await read(), 200, { scaling });
    expectResponse(await readByV1(), 200, { scalerType: "QUEUE_DELAY", scalerValue: 1 });
  });

  test("a load balancing endpoint returns its base address, which requires the key", async (context) => {
    target.localOnly(context, "its workers are elsewhere");
    const response = await call("POST", "/serverless", endpointBody({ type: "LOAD_BALANCER", ...byCount }));
    expectResponse(response, 201, { type: "LOAD_BALANCER", workers: { idleTimeout: 9 } });
    const base = stringAt(response, "requestUrls", "base");
    expect(Object.keys(at(response.json, "requestUrls") ?? {}).sort()).toEqual(["base", "health"]);
    expect((await fetch(base)).status).toBe(401);
    expect((await fetch(stringAt(response, "requestUrls", "health"))).status).toBe(401);
    const id = stringAt(response, "id");
    const changed = await call("PATCH", `/serverless/${id}`, { env: { HEALTH_CHECK_PATH: "/live" } });
    expectResponse(changed, 200, { requestUrls: { base, health: `${base}/live` } });
    for (const operation of ["/run", "/runsync"])
      expectResponse(await account.jobs(id).call("POST", operation, { input: {} }), 501);
  });
});

describe("REST v2: PATCH /serverless/{id}", () => {
  test("changes the sent fields and no others", async () => {
    const { read, patch } = await newEndpoint({ timeout: 60_000, env: { A: "1" } });
    const before = (await read()).json;
    const response = await patch({ workers: { max: 2 } });
    expectResponse(response, 200);
    expect(response.json).toEqual({ ...Object(before), workers: { min: 0, max: 2, idleTimeout: 10 } });
  });

  test("pools without excludedTypes clear the exclusions; excludedTypes alone are rejected", async () => {
    const { patch } = await newEndpoint({ gpu: { pools: ["AMPERE_24"], excludedTypes: ["NVIDIA L4"] } });
    expectProblem(await patch({ gpu: { excludedTypes: [] } }), 422);
    const response = await patch({ gpu: { pools: ["AMPERE_24"] } });
    expectResponse(response, 200, { gpu: { pools: ["AMPERE_24"], excludedTypes: [] } });
  });

  test("without pools both remain, and blanks around excluded types are removed", async () => {
    const gpu = { pools: ["AMPERE_24"], excludedTypes: [" NVIDIA L4 ", "NVIDIA L4"] };
    const { patch } = await newEndpoint({ gpu });
    const retained = { pools: ["AMPERE_24"], excludedTypes: ["NVIDIA L4"], count: 2 };
    expectResponse(await patch({ gpu: { count: 2 } }), 200, { gpu: retained });
  });

  test("one CUDA constraint does not clear the other", async () => {
    const { patch } = await newEndpoint({ gpu: { pools: ["ADA_24"], allowedCudaVersions: ["12.8"] } });
    const gpu = { allowedCudaVersions: ["12.8"], minCudaVersion: "12.4" };
    expectResponse(await patch({ gpu: { minCudaVersion: "12.4" } }), 200, { gpu });
    const both = { allowedCudaVersions: [], minCudaVersion: "12.6" };
    expectResponse(await patch({ gpu: both }), 200, { gpu: both });
  });

  test("an idle timeout is rejected and omitted for queues that scale by REQUEST_COUNT", async () => {
    const { patch } = await newEndpoint();
    expectResponse(await patch({ workers: { idleTimeout: 33 } }), 200, { workers: { idleTimeout: 33 } });
    expectProblem(await patch(byCount), 422);
    const scaled = await patch({ scaling: byCount.scaling });
    expect(at(scaled.json, "workers")).toEqual({ min: 0, max: 0 });
    expectProblem(await patch({ workers: { idleTimeout: 9 } }), 422);
    expectResponse(await patch({ workers: { max: 1 } }), 200, { workers: { max: 1 } });
    const delay = { scaling: { type: "QUEUE_DELAY", queueDelay: 4 }, workers: { idleTimeout: 9 } };
    expectResponse(await patch(delay), 200, { workers: { idleTimeout: 9 } });
  });

  test("a timeout of 0 means the service's default", async () => {
    const { patch, readByV1 } = await newEndpoint({ timeout: 60_000 });
    expectResponse(await patch({ timeout: 0 }), 200, { timeout: 0 });
    expect((await readByV1()).json).not.toHaveProperty("executionTimeoutMs");
    expectProblem(await patch({ timeout: 4999 }), 422);
  });

  test("an empty list and an empty string clear the CUDA constraints", async () => {
    const { patch } = await newEndpoint({ gpu: { pools: ["ADA_24"], allowedCudaVersions: ["12.8"] } });
    for (const gpu of [{ allowedCudaVersions: [] }, { minCudaVersion: "12.4" }])
      expectResponse(await patch({ gpu }), 200, { gpu });
    expectResponse(await patch({ gpu: { minCudaVersion: "" } }), 200, { gpu: { minCudaVersion: null } });
  });

  test.each<[string, Fields]>([
    ["type", { type: "QUEUE" }],
    ["gpu.pools", { gpu: { pools: [] } }],
    ["workers.max", { workers: { max: -1 } }],
  ])("with a wrong %s is 422 and changes nothing", async (property, fields) => {
    const { read, patch } = await newEndpoint();
    const before = (await read()).json;
    const response = await patch({ name: "other", ...fields });
    expectProblem(response, 422);
    expect(at(response.json, "errors", 0)).toMatch(new RegExp(`^${property}: `));
    expect((await read()).json).toEqual(before);
  });

  test("cpu on a GPU endpoint is 400", async () => {
    const { patch } = await newEndpoint();
    expectProblem(await patch({ cpu: [{ id: "cpu3c", vcpuCount: 2 }] }), 400, /cpu/);
  });
});

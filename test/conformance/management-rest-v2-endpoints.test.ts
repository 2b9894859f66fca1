import { describe, expect, test } from "vitest";
import { at, expectAnswer, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { type Fields, uniqueName, useAccount } from "./support/account";
import { createJobApi } from "./support/job-api";
import { expectProblem, useRestV2 } from "./support/rest-v2";

const target = await useTarget({ templateRelease: 0 });
const account = useAccount(target);
const { call, make, endpointBody } = useRestV2(target, account);

const template = (fields: Fields = {}): Promise<string> =>
  make("/templates", { name: uniqueName("template"), image: "conformance/none:1", serverless: true, ...fields });

describe("REST v2: POST /serverless", () => {
  test("fills in what is left out", async () => {
    const id = await make("/serverless", endpointBody({ workers: undefined }));
    expectAnswer(await call("GET", `/serverless/${id}`), 200, {
      ...{ workers: { min: 0, max: 3, idleTimeout: 10 }, timeout: 300_000, flashboot: "OFF" },
      ...{ dataCenterIds: [], networkVolumes: [], args: "", env: {}, ports: [], registry: null },
      gpu: { pools: ["AMPERE_24"], excludedTypes: [], count: 1, allowedCudaVersions: [] },
    });
  });

  test("keeps all that is sent, and REST v1 shows the same", async () => {
    const volumes = [await account.volume(), await account.volume()];
    const body = endpointBody({
      gpu: { pools: ["ADA_24", "AMPERE_24"], excludedTypes: ["NVIDIA L4"], count: 2, allowedCudaVersions: ["12.8"] },
      scaling: { type: "REQUEST_COUNT", requestCount: 7 },
      ...{ args: "python h.py", disk: 9, env: { A: "1" }, ports: ["8080/http"], registry: null },
      ...{ dataCenterIds: ["EU-RO-1"], networkVolumes: volumes, timeout: 60_000, flashboot: "PRIORITY_FLASHBOOT" },
    });
    const answer = await call("POST", "/serverless", body);
    expectAnswer(answer, 201, body);
    const id = stringAt(answer, "id");
    expectAnswer(await account.rest("GET", `/endpoints/${id}?includeTemplate=true`), 200, {
      ...{ gpuTypeIds: ["NVIDIA GeForce RTX 4090", "NVIDIA RTX A5000", "NVIDIA GeForce RTX 3090"], gpuCount: 2 },
      ...{ scalerType: "REQUEST_COUNT", scalerValue: 7, dataCenterIds: ["EU-RO-1"], networkVolumeIds: volumes },
      ...{ executionTimeoutMs: 60_000, flashboot: true, allowedCudaVersions: ["12.8"] },
      template: { imageName: "conformance/none:1", dockerStartCmd: ["python", "h.py"], env: { A: "1" } },
    });
  });

  test("cpu makes an endpoint of CPU instances with their memory", async () => {
    const body = endpointBody({ gpu: undefined, cpu: [{ id: "cpu3g", vcpuCount: 4 }] });
    const answer = await call("POST", "/serverless", body);
    expectAnswer(answer, 201, { cpu: [{ id: "cpu3g", vcpuCount: 4, memory: 16 }] });
    expect(answer.json).not.toHaveProperty("gpu");
    const own = `/serverless/${stringAt(answer, "id")}`;
    expectProblem(await call("PATCH", own, { gpu: { pools: ["ADA_24"] } }), 400, /gpu/);
    expectAnswer(await call("PATCH", own, { cpu: [{ id: "cpu5c", vcpuCount: 2 }] }), 200, {
      cpu: [{ id: "cpu5c", vcpuCount: 2, memory: 4 }],
    });
  });

  test.each<[string, Fields, RegExp]>([
    ["neither gpu nor cpu", { gpu: undefined }, /exactly one/],
    ["both gpu and cpu", { cpu: [{ id: "cpu3c", vcpuCount: 2 }] }, /exactly one/],
    ["neither image nor templateId", { image: undefined }, /image/],
    ["an unknown template", { templateId: "nosuch" }, /template "nosuch" does not exist/],
    ["an unknown volume", { networkVolumes: ["nosuch"] }, /volume "nosuch" does not exist/],
    ["an unknown registry", { registry: "nosuch" }, /"nosuch" does not exist/],
    ["an unknown pool", { gpu: { pools: ["NO_POOL"] } }, /must be one of AMPERE_16/],
    ["more workers at least than at most", { workers: { min: 2, max: 1 } }, /workersMax/],
    [
      "both kinds of CUDA constraints",
      { gpu: { pools: ["ADA_24"], allowedCudaVersions: ["12.8"], minCudaVersion: "12.4" } },
      /together/,
    ],
  ])("with %s is 400", async (_what, fields, detail) => {
    expectProblem(await call("POST", "/serverless", endpointBody(fields)), 400, detail);
  });

  test.each<[string, Fields]>([
    ["scaling", { scaling: undefined }],
    ["type", { type: undefined }],
    ["type", { type: "OTHER" }],
    ["scaling.queueDelay", { scaling: { type: "QUEUE_DELAY", queueDelay: 0.4 } }],
    ["scaling.requestCount", { scaling: { type: "REQUEST_COUNT", requestCount: 0 } }],
    ["scaling.requestCount", { scaling: { type: "QUEUE_DELAY", queueDelay: 4, requestCount: 1 } }],
    ["gpu.pools", { gpu: { pools: [] } }],
    ["gpu.excludedTypes", { gpu: { pools: ["ADA_24"], excludedTypes: ["x", "x"] } }],
    ["gpu.bogus", { gpu: { pools: ["ADA_24"], bogus: 1 } }],
    ["cpu.0.vcpuCount", { gpu: undefined, cpu: [{ id: "cpu3c", vcpuCount: 3 }] }],
    ["workers.idleTimeout", { workers: { idleTimeout: 3601 } }],
    ["env.A", { env: { A: 1 } }],
    ["ports.0", { ports: ["http"] }],
    ["disk", { disk: 0 }],
    ["flashboot", { flashboot: true }],
  ])("with a wrong %s is 422 and names it", async (property, fields) => {
    const answer = await call("POST", "/serverless", endpointBody(fields));
    expectProblem(answer, 422, "Request validation failed.");
    expect(at(answer.json, "errors", 0)).toMatch(new RegExp(`^${property.replaceAll(".", "\\.")}: `));
  });

  test("a queueDelay of half a second is kept; REST v1 shows whole seconds", async () => {
    const scaling = { type: "QUEUE_DELAY", queueDelay: 0.5 };
    const id = await make("/serverless", endpointBody({ scaling }));
    expectAnswer(await call("GET", `/serverless/${id}`), 200, { scaling });
    expectAnswer(await account.rest("GET", `/endpoints/${id}`), 200, { scalerType: "QUEUE_DELAY", scalerValue: 1 });
  });

  test("a load balancing endpoint shows its base address, which does not reach workers here", async (context) => {
    target.localOnly(context, "its workers are elsewhere");
    const answer = await call("POST", "/serverless", endpointBody({ type: "LOAD_BALANCER" }));
    expectAnswer(answer, 201, { type: "LOAD_BALANCER" });
    expect(Object.keys(at(answer.json, "requestUrls") ?? {}).sort()).toEqual(["base", "health"]);
    expect((await fetch(stringAt(answer, "requestUrls", "base"))).status).toBe(501);
    expect((await fetch(stringAt(answer, "requestUrls", "health"))).status).toBe(501);
    const id = stringAt(answer, "id");
    for (const operation of ["/run", "/runsync"])
      expectAnswer(await createJobApi(target, id).call("POST", operation, { input: {} }), 501);
  });
});

describe("REST v2: an endpoint and its template", () => {
  test("the template is copied with the body over it, variables merged; no answer names it", async () => {
    const templateId = await template({ env: { A: "1", B: "1" }, args: "python h.py", disk: 7 });
    const id = await make("/serverless", endpointBody({ image: undefined, templateId, env: { B: "2" } }));
    const answer = await call("GET", `/serverless/${id}`);
    expectAnswer(answer, 200, { image: "conformance/none:1", args: "python h.py", disk: 7, env: { A: "1", B: "2" } });
    expect(answer.json).not.toHaveProperty("templateId");
  });

  test("a later change of the template does not reach it, until it is named again", async () => {
    const templateId = await template({ env: { A: "1" } });
    const id = await make("/serverless", endpointBody({ image: undefined, templateId }));
    await call("PATCH", `/templates/${templateId}`, { image: "conformance/next:2", env: { C: "3" } });
    expectAnswer(await call("GET", `/serverless/${id}`), 200, { image: "conformance/none:1" });
    const again = await call("PATCH", `/serverless/${id}`, { templateId, env: { D: "4" } });
    expectAnswer(again, 200, { image: "conformance/next:2" });
    expect(at(again.json, "env")).toEqual({ C: "3", D: "4" });
  });

  test("a template that it copied is free; one that REST v1 gave to an endpoint is in use", async () => {
    const copied = await template();
    await make("/serverless", endpointBody({ image: undefined, templateId: copied }));
    expectAnswer(await call("DELETE", `/templates/${copied}`), 204);
    const shared = await template();
    const id = await account.endpoint({ templateId: shared });
    const known = "Template is in use by a pod or serverless endpoint and cannot be deleted";
    expectProblem(await call("DELETE", `/templates/${shared}`), 400, known);
    await call("DELETE", `/serverless/${id}`);
    expectAnswer(await call("DELETE", `/templates/${shared}`), 204);
  });

  test("its own template is in no list, is shown by REST v1 when asked for, and is deleted with it", async () => {
    const id = await make("/serverless", endpointBody());
    const own = stringAt(await account.rest("GET", `/endpoints/${id}`), "templateId");
    const lists = [await call("GET", "/templates"), await account.rest("GET", "/templates")];
    for (const { text } of lists) expect(text).not.toContain(own);
    const bound = await account.rest("GET", "/templates?includeEndpointBoundTemplates=true");
    expect(bound.json).toContainEqual(expect.objectContaining({ id: own, boundEndpointId: id }));
    expectAnswer(await call("DELETE", `/serverless/${id}`), 204);
    expectProblem(await call("GET", `/templates/${own}`), 404);
  });

  test("an endpoint of REST v1 stays with its template while it has its settings", async () => {
    const templateId = await template();
    const id = await account.endpoint({ templateId });
    expectAnswer(await call("PATCH", `/serverless/${id}`, { templateId, workers: { idleTimeout: 9 } }), 200);
    expectAnswer(await account.rest("GET", `/endpoints/${id}`), 200, { templateId, idleTimeout: 9 });
    await call("PATCH", `/templates/${templateId}`, { image: "conformance/next:2" });
    expectAnswer(await call("GET", `/serverless/${id}`), 200, { image: "conformance/next:2" });
    await call("PATCH", `/serverless/${id}`, { image: "conformance/own:3" });
    expectAnswer(await call("GET", `/templates/${templateId}`), 200, { image: "conformance/next:2" });
    expectAnswer(await account.rest("PATCH", `/endpoints/${id}`, { templateId }), 200, { templateId });
    expectAnswer(await call("GET", `/serverless/${id}`), 200, { image: "conformance/next:2" });
  });

  test("env of a PATCH replaces the endpoint's", async () => {
    const id = await make("/serverless", endpointBody({ env: { A: "1" } }));
    expect(at((await call("PATCH", `/serverless/${id}`, { env: { B: "2" } })).json, "env")).toEqual({ B: "2" });
  });
});

describe("REST v2: PATCH /serverless/{id}", () => {
  test("changes what is sent and no other field", async () => {
    const id = await make("/serverless", endpointBody({ timeout: 60_000, env: { A: "1" } }));
    const before = (await call("GET", `/serverless/${id}`)).json;
    const answer = await call("PATCH", `/serverless/${id}`, { workers: { max: 2 } });
    expectAnswer(answer, 200);
    expect(answer.json).toEqual({ ...Object(before), workers: { min: 0, max: 2, idleTimeout: 10 } });
  });

  test("pools without excludedTypes clear the exclusions; excludedTypes alone are refused", async () => {
    const id = await make("/serverless", endpointBody({ gpu: { pools: ["AMPERE_24"], excludedTypes: ["NVIDIA L4"] } }));
    expectProblem(await call("PATCH", `/serverless/${id}`, { gpu: { excludedTypes: [] } }), 400, /pools/);
    const answer = await call("PATCH", `/serverless/${id}`, { gpu: { pools: ["AMPERE_24"] } });
    expectAnswer(answer, 200, { gpu: { pools: ["AMPERE_24"], excludedTypes: [] } });
  });

  test("an empty list and an empty text clear the CUDA constraints", async () => {
    const id = await make("/serverless", endpointBody({ gpu: { pools: ["ADA_24"], allowedCudaVersions: ["12.8"] } }));
    const patch = (gpu: Fields) => call("PATCH", `/serverless/${id}`, { gpu });
    expectAnswer(await patch({ allowedCudaVersions: [] }), 200, { gpu: { allowedCudaVersions: [] } });
    expectAnswer(await patch({ minCudaVersion: "12.4" }), 200, { gpu: { minCudaVersion: "12.4" } });
    expectAnswer(await patch({ minCudaVersion: "" }), 200, { gpu: { minCudaVersion: null } });
  });

  test.each<[string, Fields]>([
    ["type", { type: "QUEUE" }],
    ["gpu.pools", { gpu: { pools: [] } }],
    ["workers.max", { workers: { max: -1 } }],
  ])("with a wrong %s is 422 and changes nothing", async (property, fields) => {
    const id = await make("/serverless", endpointBody());
    const before = (await call("GET", `/serverless/${id}`)).json;
    const answer = await call("PATCH", `/serverless/${id}`, { name: "other", ...fields });
    expectProblem(answer, 422);
    expect(at(answer.json, "errors", 0)).toMatch(new RegExp(`^${property}: `));
    expect((await call("GET", `/serverless/${id}`)).json).toEqual(before);
  });

  test("cpu on an endpoint of GPUs is 400", async () => {
    const id = await make("/serverless", endpointBody());
    expectProblem(await call("PATCH", `/serverless/${id}`, { cpu: [{ id: "cpu3c", vcpuCount: 2 }] }), 400, /cpu/);
  });
});

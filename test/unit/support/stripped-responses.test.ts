import { expect, test } from "vitest";
import { stripResponse } from "../../support/stripped-responses";

const strip = (path: string, body: object): unknown =>
  JSON.parse(stripResponse("GET", path, 200, JSON.stringify(body)));

test("a response of REST v2 keeps the described fields at every depth", () => {
  const workers = { min: 0, max: 3, more: 1 };
  const gpu = { pools: ["AMPERE_24"], count: 1, allowedCudaVersions: [], minCudaVersion: null, more: 1 };
  const endpoint = { id: "e1", name: "chat", workers, gpu, env: { ANY_NAME: "kept" }, templateId: "t1" };
  const { more: _ofWorkers, ...keptWorkers } = workers;
  const { more: _ofGpu, ...keptGpu } = gpu;
  const expected = { id: "e1", name: "chat", workers: keptWorkers, gpu: keptGpu, env: { ANY_NAME: "kept" } };
  expect(strip("/v2/serverless/e1", endpoint)).toEqual(expected);
  const pagination = { nextCursor: null, hasNextPage: false, total: 1 };
  expect(strip("/v2/serverless?limit=1", { endpoints: [endpoint], pagination })).toEqual({
    endpoints: [expected],
    pagination: { nextCursor: null, hasNextPage: false },
  });
});

test("a response of REST v1 keeps the described fields and all fields of workers", () => {
  const template = { id: "t1", name: "worker", imageName: "acme/chat:1", dockerArgs: "serve" };
  const endpoint = { id: "e1", instanceIds: ["cpu3c-2-4"], vcpuCount: 2, flashboot: true, workers: [{ id: "w1" }] };
  expect(strip("/v1/endpoints?includeTemplate=true", [{ ...endpoint, template }])).toEqual([
    {
      id: "e1",
      instanceIds: ["cpu3c-2-4"],
      workers: [{ id: "w1" }],
      template: { id: "t1", name: "worker", imageName: "acme/chat:1" },
    },
  ]);
});

test("responses and objects that no contract describes are unchanged", () => {
  const job = { id: "j1", status: "COMPLETED" };
  expect(strip("/v2/some-endpoint/status/j1", job)).toEqual(job);
  expect(strip("/v2/account/limits", { spendRate: { any: 1 }, more: 1 })).toEqual({ spendRate: { any: 1 } });
  expect(stripResponse("DELETE", "/v2/serverless/e1", 204, "")).toBe("");
});

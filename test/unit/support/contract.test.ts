import { describe, expect, test } from "vitest";
import { requestViolations, responseViolations } from "../../support/contract";

const endpoint = {
  name: "chat",
  type: "QUEUE",
  image: "acme/chat:1",
  scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
  gpu: { pools: ["AMPERE_24"] },
};
const create = { method: "POST", path: "/v2/serverless" } as const;
const violations = (violations: { property: string; status: number | null }[]) =>
  violations.map(({ property, status }) => [property, status]);

describe("requests against the REST v2 contract", () => {
  test("a valid request causes no violation", () => {
    expect(requestViolations({ ...create, body: endpoint })).toEqual([]);
    expect(requestViolations({ method: "GET", path: "/v2/serverless?limit=1000&other=1" })).toEqual([]);
    const availability = { include: "AVAILABILITY", product: "SERVERLESS,POD", count: "2" };
    expect(requestViolations({ method: "GET", path: "/v2/catalog/gpus", query: availability })).toEqual([]);
  });

  test("a violation names the route, the property, and the status of the response", () => {
    const body = { ...endpoint, gpu: { pools: ["AMPERE_24"], bogus: 1 } };
    expect(requestViolations({ ...create, body })).toEqual([
      {
        route: "POST /v2/serverless",
        property: "body.gpu.bogus",
        rule: expect.stringMatching(/^additional/),
        status: 422,
      },
    ]);
    expect(
      violations(requestViolations({ ...create, body: { ...endpoint, cpu: [{ id: "cpu3c", vcpuCount: 2 }] } })),
    ).toEqual([["body", 400]]);
    expect(violations(requestViolations({ method: "GET", path: "/v2/serverless?limit=0" }))).toEqual([
      ["query.limit", 422],
    ]);
    expect(violations(requestViolations({ method: "GET", path: "/v2/catalog/gpus?product=SERVERLESS" }))).toEqual([
      ["query", 400],
    ]);
    expect(violations(requestViolations({ method: "PUT", path: "/v2/serverless" }))).toEqual([["route", 405]]);
    expect(violations(requestViolations({ method: "GET", path: "/v2/nosuch" }))).toEqual([["route", 404]]);
  });

  test("a literal path takes precedence over a path with parameters", () => {
    const [violation] = requestViolations({ method: "POST", path: "/v2/registries/delegations", body: {} });
    expect(violation).toMatchObject({ route: "POST /v2/registries/delegations", property: "body.resource" });
  });
});

describe("responses against the REST v2 contract", () => {
  const json = { "content-type": "application/json; charset=utf-8" };
  const problem = { "content-type": "application/problem+json" };
  const readViolations = { method: "GET", path: "/v2/registries/abc" } as const;

  test("a valid response causes no violation", () => {
    expect(
      responseViolations({ ...readViolations, status: 200, headers: json, body: '{"id":"a","name":"b","more":1}' }),
    ).toEqual([]);
    expect(responseViolations({ ...readViolations, method: "DELETE", status: 204, headers: {}, body: "" })).toEqual([]);
    const missing = JSON.stringify({ title: "Not Found", status: 404, detail: "resource not found" });
    expect(responseViolations({ ...readViolations, status: 404, headers: problem, body: missing })).toEqual([]);
  });

  test("missing fields, media types, headers and statuses are violations", () => {
    const properties = (status: number, headers: Record<string, string>, body: string): string[] =>
      responseViolations({ ...readViolations, status, headers, body }).map(({ property }) => property);
    expect(properties(200, json, '{"id":"a"}')).toEqual(["body.name"]);
    expect(properties(201, json, '{"id":"a","name":"b"}')).toEqual(["status"]);
    expect(properties(404, json, '{"error":"no"}')).toContain("headers.Content-Type");
    const limited = JSON.stringify({ title: "Too Many Requests", status: 429, detail: "rate limit exceeded" });
    expect(properties(429, { ...problem, RateLimit: "none" }, limited)).toEqual([
      "headers.RateLimit",
      "headers.Retry-After",
    ]);
  });
});

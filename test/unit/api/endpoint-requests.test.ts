import { describe, expect, test } from "vitest";
import { startRig } from "../../support/client-rig";
import { json } from "../../support/faulty-server";

const localhost = "http://127.0.0.1";
const wrongPath = (path: string): string => `the path is ${JSON.stringify(path)}; must begin with a slash`;
const wrongAddress = (address: string): string => `the endpoint's address ${JSON.stringify(address)} is not a URL`;

test.each([
  // Such a path could change the host.
  ...["@evil.example/x", "evil.example", "", ".evil.example/x"].map((path) => [localhost, path, wrongPath(path)]),
  ...["", "endpoint.example", "https://"].map((address) => [address, "/x", wrongAddress(address)]),
  // It would expose the key.
  ["http://endpoint.example", "/x", "http://endpoint.example is not encrypted"],
  ["http://127.0.0.1.endpoint.example", "/x", "http://127.0.0.1.endpoint.example is not encrypted"],
  ["http://me:pw@endpoint.example?token=x", "/x", "address http://endpoint.example is not encrypted"],
])("a request to an endpoint at %j with the path %j is rejected: %s", async (address, path, message) => {
  const { clients, failure, origin, requests } = await startRig([json({})]);
  const target = address === localhost ? origin : address;
  const error = await failure(clients.requests.send(target, { method: "GET", path }));
  expect(error).toMatchObject({ category: "invalid", code: "invalid_argument", retryable: false });
  expect(error.message).toContain(message);
  expect(requests).toEqual([]);
});

describe.each([
  ["429", 429, {}],
  ["400", 400, {}],
  ["503", 503, {}],
  ["200 with an exhausted limit", 200, { ratelimit: '"default";r=0;t=60' }],
])("a response of a worker with the status %s", (_, status, headers) => {
  const body = { error: "no workers available" };
  const response = json(body, status, { ...headers, "x-worker-id": "w1" });

  test("is returned as it is, and limits no later request", async () => {
    const { clients, clock, origin, requests } = await startRig([response, json({})]);
    const send = () => clients.requests.send(origin, { method: "POST", path: "/x" });
    const start = clock.now();
    expect(await send()).toMatchObject({ status, workerId: "w1" });
    expect(await send()).toMatchObject({ status: 200 });
    expect([requests.length, clock.now() - start]).toEqual([2, 0]);
  });
});

test("the same response of the service itself is retried", async () => {
  const { clients, origin, requests, result } = await startRig([json({ error: "busy" }, 429), json({})]);
  const response = await result(clients.requests.send(origin, { method: "GET", path: "/x" }));
  expect([response.status, requests.length]).toEqual([200, 2]);
});

import { describe, expect, test } from "vitest";
import { startRig } from "../../support/client-rig";
import { json } from "../../support/faulty-server";

describe("a request to an endpoint", () => {
  test.each(["@evil.example/x", "evil.example", "", ".evil.example/x"])(
    "with the path %j is rejected, because the path could change the host",
    async (path) => {
      const { clients, failure, origin, requests } = await startRig([json({})]);
      const error = await failure(clients.requests.send(origin, { method: "GET", path }));
      expect(error).toMatchObject({ category: "invalid", code: "invalid_argument", retryable: false });
      expect(error.message).toBe(`the path is ${JSON.stringify(path)}; must begin with a slash`);
      expect(requests).toEqual([]);
    },
  );

  test.each(["", "endpoint.example", "https://"])("at the address %j is rejected", async (requestUrl) => {
    const { clients, failure, requests } = await startRig([json({})]);
    const error = await failure(clients.requests.send(requestUrl, { method: "GET", path: "/x" }));
    expect(error).toMatchObject({ category: "invalid", code: "invalid_argument", retryable: false });
    expect(error.message).toBe(`the endpoint's address ${JSON.stringify(requestUrl)} is not a URL`);
    expect(requests).toEqual([]);
  });

  test("at another host without TLS is rejected, because it would expose the key", async () => {
    const { clients, failure, requests } = await startRig([json({})]);
    const error = await failure(clients.requests.send("http://endpoint.example", { method: "GET", path: "/x" }));
    expect(error).toMatchObject({ category: "invalid", code: "invalid_argument", retryable: false });
    expect(error.message).toContain("http://endpoint.example is not encrypted");
    expect(requests).toEqual([]);
  });
});

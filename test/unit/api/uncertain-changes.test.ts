import { describe, expect, test } from "vitest";
import { wasApplied } from "../../../api/dialects/rest-calls";
import { startRig } from "../../support/client-rig";
import { type Behaviour, json } from "../../support/faulty-server";

const unavailable = json({ title: "Service Unavailable", status: 503, detail: "upstream" }, 503);
const volume = (size: number) => ({ id: "v1", name: "data", size, dataCenter: "EU-RO-1", type: "STANDARD" });
const secret = { id: "s1", name: "hub", createdAt: "2026-11-01T00:00:00Z", description: "new" };

/** Clients of REST v2 whose server responds as planned, and the methods of the requests so far. */
async function startV2(plan: Behaviour[]) {
  const rig = await startRig(plan, { dialect: "v2" });
  return { ...rig, methods: () => rig.requests.map(({ method }) => method) };
}

describe("a PATCH of REST v2", () => {
  test.each<[string, Behaviour]>([
    ["a 500", json({ title: "Internal Server Error", status: 500 }, 500)],
    ["a 503", unavailable],
    ["a lost connection", { action: "reset" }],
  ])("is not retried after %s if a read shows the change", async (_fault, fault) => {
    const { clients, result, methods } = await startV2([fault, json(volume(200))]);
    const changed = await result(clients.management.updateNetworkVolume("v1", { size: 200 }));
    expect(changed).toMatchObject({ id: "v1", size: 200 });
    expect(methods()).toEqual(["PATCH", "GET"]);
  });

  test("is retried after a 503 if a read does not show the change", async () => {
    const { clients, result, methods } = await startV2([unavailable, json(volume(10)), json(volume(200))]);
    expect(await result(clients.management.updateNetworkVolume("v1", { size: 200 }))).toMatchObject({ size: 200 });
    expect(methods()).toEqual(["PATCH", "GET", "PATCH"]);
  });

  test("fails without a retry if the object cannot be read after a 503", async () => {
    const { clients, failure, methods } = await startV2([unavailable]);
    const error = await failure(clients.management.updateNetworkVolume("v1", { size: 200 }));
    expect(error).toMatchObject({ code: "unavailable", ambiguous: true, request: { method: "PATCH" } });
    expect(methods().filter((method) => method === "PATCH")).toHaveLength(1);
  });

  test("fails without a retry if records never contain the changed property, such as a secret's value", async () => {
    const { clients, failure, methods } = await startV2([unavailable, json(secret)]);
    const update = clients.management.updateSecretValue({ id: "s1", value: "value-of-the-test" });
    expect(await failure(update)).toMatchObject({ code: "unavailable", ambiguous: true });
    expect(methods()).toEqual(["PATCH", "GET"]);
  });

  test("is retried after a 429 without a read", async () => {
    const limited = json({ title: "Too Many Requests", status: 429 }, 429);
    const { clients, result, methods } = await startV2([limited, json(volume(200))]);
    await result(clients.management.updateNetworkVolume("v1", { size: 200 }));
    expect(methods()).toEqual(["PATCH", "PATCH"]);
  });
});

describe("the outcome of a change, read from a record", () => {
  const endpoint = {
    name: "chat",
    args: null,
    env: { A: "1", B: "2" },
    ports: [],
    dataCenterIds: ["EU-RO-1", "US-KS-2"],
    workers: { min: 0, max: 3, idleTimeout: 5 },
    cpu: [{ id: "cpu3c", vcpuCount: 2, memory: 4 }],
  };
  test.each<[object, boolean | undefined]>([
    [{ name: "chat" }, true],
    [{ name: "other" }, false],
    [{ workers: { max: 3 } }, true],
    [{ workers: { min: 1, max: 3 } }, false],
    [{ workers: null }, false],
    [{ args: { min: 1 } }, false],
    [{ dataCenterIds: ["US-KS-2", "EU-RO-1"] }, true],
    [{ dataCenterIds: ["US-KS-2"] }, false],
    [{ dataCenterIds: ["US-KS-2", "CA-MTL-1"] }, false],
    [{ name: "chat", env: undefined }, true],
    [{ cpu: [{ id: "cpu3c", vcpuCount: 2 }] }, true],
    [{ cpu: [{ id: "cpu3c", vcpuCount: 4 }] }, false],
    [{ args: "" }, true],
    // The environment is replaced as a whole, so an extra variable means that the change was not applied.
    [{ env: { A: "1" } }, false],
    [{ env: { B: "2", A: "1" } }, true],
    [{ value: "value-4e52" }, undefined],
    [{}, undefined],
  ])("%j: applied %s", (body, shown) => expect(wasApplied(body, endpoint)).toBe(shown));
});

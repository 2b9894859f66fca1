import { systemClock } from "serverless-compute-api/clock";
import { describe, expect, test } from "vitest";
import { name, podOf } from "./support/api-server";
import { rejection, useWorker } from "./support/pod-runtime";

describe("a worker", () => {
  test("that the API server rejects ends with the reason", async () => {
    const { api, start } = await useWorker();
    api.replaced.set("POST pods", rejection(422, "image: is invalid"));
    expect(await start().ended).toMatchObject({ description: "could not be started: image: is invalid", clean: false });
  });

  test.each([
    [403, 'pods "w1" is forbidden: exceeded quota: few', true],
    [403, 'pods "w1" is forbidden: status unknown for quota: few, resources: pods', true],
    [403, "error looking up service account gpu/default"],
    [403, 'pods is forbidden: User "u" cannot create resource "pods" in API group "" in the namespace "gpu"'],
    [403, 'pods "w1" is forbidden: unable to create new content in namespace gpu because it is being terminated'],
    [403, 'pods "w1" is forbidden: not yet ready to handle request'],
    [404, 'namespaces "gpu" not found'],
    [401, "Unauthorized"],
    [500, "etcd is slow"],
    [429, "too many requests"],
  ])("waits while the API server responds with %i %s", async (status, message, lacksStock = false) => {
    const { api, start } = await useWorker();
    api.replaced.set("POST pods", rejection(status, message));
    const process = start();
    await expect.poll(() => process.waiting?.()).toEqual({ reason: expect.stringContaining(message), lacksStock });
    api.replaced.delete("POST pods");
    await expect.poll(api.changes).toContain(`PATCH pods/${name}`);
    await expect.poll(() => process.waiting?.()).toBeUndefined();
  });

  test.each([
    [401, "Unauthorized"],
    [500, "self-signed certificate"],
  ])("waits with the remedy of a restart while the API server responds with %i %s", async (status, message) => {
    const { api, start } = await useWorker();
    api.replaced.set("POST pods", rejection(status, message));
    const process = start();
    const reason = expect.stringMatching(`${message}.*; restart the service after a change of the kubeconfig$`);
    await expect.poll(() => process.waiting?.()).toMatchObject({ reason });
  });

  test("starts although the API server rejects most calls, each of which is sent again", async () => {
    const { api, start } = await useWorker();
    api.throttle(3);
    start();
    await expect.poll(api.changes).toContain(`PATCH pods/${name}`);
    api.throttle(1);
    expect(api.calls.filter((call) => call === "POST pods")).toHaveLength(3);
  });

  test("that is stopped while its pod is being created leaves no pod", async () => {
    const { api, start } = await useWorker();
    const proceed = api.hold("POST pods");
    const process = start();
    await expect.poll(api.changes).toEqual(["POST pods"]);
    process.kill();
    proceed();
    expect(await process.ended).toMatchObject({ description: "was stopped by the service" });
    expect([...api.pods.keys()]).toEqual([]);
  });

  test("whose pod is deleted by others while it waits for its Secret ends, and its pod is not created again", async () => {
    const { api, start } = await useWorker();
    api.replaced.set("POST secrets", rejection(403, "exceeded quota: few"));
    const process = start();
    await expect.poll(() => process.waiting?.()).toMatchObject({ reason: "exceeded quota: few" });
    api.report({});
    api.pods.delete(name);
    api.emit("DELETED", podOf(name, {}));
    expect(await process.ended).toMatchObject({ description: "was deleted from the cluster" });
    // Longer than the pause before a call is sent again.
    await systemClock.sleep(300);
    expect([...api.pods.keys()]).toEqual([]);
  });

  test("that has a node waits for the newest event of the node that can delay it", async () => {
    const { api, start } = await useWorker();
    const event = (reason: string, second: number | undefined) => ({
      reason,
      message: "details",
      lastTimestamp: second === undefined ? null : `2026-01-01T00:00:0${second}Z`,
    });
    const items = [
      event("FailedScheduling", undefined),
      event("FailedMount", 1),
      event("Pulling", 3),
      event("Failed", 2),
      event("DNSConfigForming", 4),
    ];
    api.replaced.set("GET events", { status: 200, json: { items } });
    const process = start();
    await expect.poll(api.changes).toHaveLength(3);
    api.report({});
    await expect
      .poll(() => process.waiting?.())
      .toEqual({ reason: `the pod ${name} waits: Pulling: details`, lacksStock: false });
  });

  test("that exists is not created twice after a lost response", async () => {
    const { api, start } = await useWorker();
    api.pods.set(name, podOf(name, {}));
    api.replaced.set("POST pods", rejection(409, "already exists"));
    start();
    await expect.poll(api.changes).toEqual(["POST pods", "POST secrets", `PATCH pods/${name}`]);
  });
});

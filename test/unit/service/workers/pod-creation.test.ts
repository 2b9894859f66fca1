import { systemClock } from "serverless-compute-api/clock";
import { describe, expect, test } from "vitest";
import { name, podOf } from "./support/api-server";
import { rejection, useWorker } from "./support/pod-runtime";

/** The message of a creation at the same time as another one with the same quota. */
const conflict =
  'Operation cannot be fulfilled on resourcequotas "few": the object has been modified; please apply your changes to the latest version and try again';

/** For tests that wait for seconds of the clock, and not for a limit of it. */
const fast = { speed: 50 };

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
    [409, conflict],
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

  test.each(["persistentvolumeclaims", "pods", "secrets"])(
    "is created again after a conflict about a quota, not about an existing object, of its %s",
    async (kind) => {
      const { api, start } = await useWorker({ volumeId: "v1", volumeSizeInGb: 1, mountPaths: ["/m"] });
      api.replaced.set(`POST ${kind}`, rejection(409, conflict));
      const process = start();
      await expect.poll(() => process.waiting?.()).toEqual({ reason: conflict, lacksStock: false });
      api.replaced.delete(`POST ${kind}`);
      await expect.poll(api.changes).toContain(`PATCH pods/${name}`);
    },
  );

  test("is created again after growing pauses", async () => {
    const { api, start, sleeps } = await useWorker({}, fast);
    api.replaced.set("POST pods", rejection(403, "exceeded quota: few"));
    start();
    await expect.poll(() => api.calls.filter((call) => call === "POST pods").length).toBe(6);
    const pauses = sleeps.filter((ms) => ms < 30_000);
    expect(pauses).toEqual(expect.arrayContaining([1000, 2000, 4000, 8000]));
    expect(pauses.filter((ms) => ms === 1000)).toHaveLength(1);
  });

  test("that is stopped while it waits for a quota ends at once", async () => {
    const { api, start } = await useWorker();
    api.replaced.set("POST pods", rejection(403, "exceeded quota: few"));
    const process = start();
    await expect.poll(() => api.calls.filter((call) => call === "POST pods").length).toBe(4);
    api.replaced.set(`DELETE pods/${name}`, rejection(404, "not found"));
    process.kill();
    await process.ended;
    expect(api.calls.filter((call) => call === "POST pods")).toHaveLength(4);
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

  test.each(["GET", "POST secrets"])(
    "that is stopped during the %s of its creation sends no further call",
    async (held) => {
      const { api, start } = await useWorker();
      const call = held === "GET" ? `GET pods/${name}` : held;
      const proceed = api.hold(call);
      const process = start();
      await expect.poll(() => api.calls).toContain(call);
      process.kill();
      proceed();
      await process.ended;
      const creation = api.changes().filter((change) => /^(POST|PATCH)/.test(change));
      expect(creation).toEqual(held === "GET" ? ["POST pods"] : ["POST pods", "POST secrets"]);
    },
  );

  test("whose claim is created again while it is stopped leaves no pod", async () => {
    const { api, start } = await useWorker({ volumeId: "v1", volumeSizeInGb: 1, mountPaths: ["/m"] }, fast);
    const process = start();
    await expect.poll(api.changes).toHaveLength(5);
    const proceed = api.hold("POST pods");
    const message = 'persistentvolumeclaim "serverless-compute-v1" not found';
    const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }];
    api.emit("MODIFIED", { ...podOf(name, { conditions }), spec: {} });
    await expect.poll(() => api.calls.filter((call) => call === "POST pods")).toHaveLength(2);
    process.kill();
    // The deletion would be sent meanwhile, and the pod would be created after it.
    await systemClock.sleep(100);
    proceed();
    await process.ended;
    expect([...api.pods.keys()]).toEqual([]);
    expect(api.changes().filter((call) => call === "POST secrets")).toHaveLength(1);
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
    const { api, start } = await useWorker({}, fast);
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

  test.each([
    ["no scheduler has placed it yet", {}],
    ["the node node-1 has not started it", { nodeName: "node-1" }],
  ])("without any event waits for a stated reason: %s", async (reason, spec) => {
    const { api, start } = await useWorker({}, fast);
    const process = start();
    await expect.poll(api.changes).toHaveLength(3);
    api.emit("MODIFIED", { ...podOf(name, {}), spec });
    await expect
      .poll(() => process.waiting?.())
      .toEqual({ reason: `the pod ${name} waits: ${reason}`, lacksStock: false });
  });

  test("waits for the event of its claim only while its status names the claim", async () => {
    const { api, start } = await useWorker({ volumeId: "v1", volumeSizeInGb: 1, mountPaths: ["/m"] }, fast);
    const event = { reason: "ProvisioningFailed", message: "no disk", lastTimestamp: "2026-01-01T00:00:00Z" };
    api.replaced.set("GET events", { status: 200, json: { items: [event] } });
    const process = start();
    await expect.poll(api.changes).toHaveLength(5);
    const report = (message: string) => {
      const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }];
      api.emit("MODIFIED", { ...podOf(name, { conditions }), spec: {} });
    };
    report("pod has unbound immediate PersistentVolumeClaims");
    const reason = `the pod ${name} waits: ProvisioningFailed: no disk`;
    await expect.poll(() => process.waiting?.()).toEqual({ reason, lacksStock: true });
    report("1 Insufficient nvidia.com/gpu");
    const lack = expect.stringContaining("Insufficient nvidia.com/gpu");
    await expect.poll(() => process.waiting?.()).toEqual({ reason: lack, lacksStock: true });
    // Longer than the time after which events are read.
    await systemClock.sleep(500);
    expect(process.waiting?.()).toMatchObject({ reason: lack });
  });

  test("whose pod is deleted before it runs, on a node that does not respond, ends, and its pod is deleted", async () => {
    const { api, start } = await useWorker();
    const process = start();
    await expect.poll(api.changes).toHaveLength(3);
    api.emit("MODIFIED", podOf(name, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }));
    expect(await process.ended).toMatchObject({ description: "was deleted from the cluster" });
    expect(api.changes()).toContain("grace 0");
  });

  test("that exists is not created twice after a lost response", async () => {
    const { api, start } = await useWorker();
    api.pods.set(name, podOf(name, {}));
    api.replaced.set("POST pods", rejection(409, "already exists"));
    start();
    await expect.poll(api.changes).toEqual(["POST pods", "POST secrets", `PATCH pods/${name}`]);
  });
});

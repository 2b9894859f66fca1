import { describe, expect, onTestFinished, test } from "vitest";
import { prepareDataFolder } from "../../../../service/store/data-folder";
import { labels } from "../../../../service/workers/runtimes/pod/spec";
import { scratchFolder } from "../../../support/folders";
import { type ApiServer, name, podOf, useApiServer } from "./support/api-server";
import { exited, port, rejection, running, useRuntime, useWorker, workerOf } from "./support/pod-runtime";

describe("a worker", () => {
  const volume = { volumeId: "v1", volumeSizeInGb: 1, mountPaths: ["/m"] };
  const withClaim = ["POST persistentvolumeclaims", "PATCH persistentvolumeclaims/serverless-compute-v1"];
  const calls = [...withClaim, "POST pods", "POST secrets", `PATCH pods/${name}`];

  test("gets its claim with the volume's size, pod and Secret before its program may start", async () => {
    const { api, start } = await useWorker(volume);
    start();
    await expect.poll(api.changes).toEqual(calls);
  });

  test.each([
    [403, "the storageclass must support resize"],
    [422, "spec is immutable"],
  ])("runs with a claim whose size cannot be changed (%i), and says why", async (status, message) => {
    const { api, start, lines } = await useWorker(volume);
    api.replaced.set("POST persistentvolumeclaims", rejection(409, "already exists"));
    api.replaced.set("PATCH persistentvolumeclaims/serverless-compute-v1", rejection(status, message));
    start();
    await expect.poll(api.changes).toEqual(calls);
    expect(lines).toEqual([`the claim serverless-compute-v1 keeps its size: ${message}`]);
  });

  test("has started when its program runs, on a node and with an address", async () => {
    const { api, start, lines } = await useWorker({}, { serverPorts: { port: 80, healthPort: 81 } });
    const process = start();
    expect(process.location?.()).toEqual({ pod: name, node: undefined, phase: "Pending" });
    expect(process.obstacle?.()).toBeUndefined();
    await expect.poll(api.changes).toHaveLength(3);
    api.report(running);
    await process.started;
    expect(lines).toEqual([`runs in the pod ${name} on the node node-1`]);
    expect(process.location?.()).toEqual({ pod: name, node: "node-1", phase: "Running" });
    expect(await process.server).toEqual({ host: "10.0.0.9", port: 80, healthPort: 81, healthPath: "/ping" });
    expect(process.obstacle?.()).toContain(`no request from its pod ${name} arrived at http://workers.test:7338;`);
  });

  test("that ends itself is deleted, with its exit code and last lines", async () => {
    const { api, start, lines } = await useWorker();
    const process = start();
    await expect.poll(api.changes).toHaveLength(3);
    api.setLog("2026-01-01T00:00:01.1Z no model\n");
    api.report(exited(3));
    expect(await process.ended).toEqual({
      description: "ended with exit code 3",
      clean: false,
      lastErrors: ["no model"],
    });
    expect(lines).toContain("no model");
    expect(api.changes()).toContain("grace 0");
  });

  test.each([
    ["stopped with its grace period in whole seconds", 2500, "grace 3"],
    ["stopped within at least a second", 0, "grace 1"],
    ["killed", undefined, "grace 1"],
  ])("can be %s", async (_how, grace, call) => {
    const { api, start } = await useWorker();
    const process = start();
    await expect.poll(api.changes).toHaveLength(3);
    if (grace === undefined) process.kill();
    else process.stop(grace);
    expect(await process.ended).toMatchObject({ description: "was stopped by the service", clean: false });
    expect(api.changes()).toContain(call);
  });

  test("whose pod is deleted by others ends", async () => {
    const { api, start } = await useWorker();
    const process = start();
    await expect.poll(api.changes).toHaveLength(3);
    api.report(running);
    api.emit("DELETED", podOf(name, running));
    expect(await process.ended).toMatchObject({ description: "was deleted from the cluster" });
  });
});

describe("a service that starts", () => {
  const owned = {
    labels: { [labels.endpoint]: "e1", [labels.worker]: "w1" },
    annotations: { [labels.configuration]: "c1" },
  };

  test("may adopt the running pods of an earlier service, and removes all others", async () => {
    const api = await useApiServer([
      podOf(name, running, owned),
      podOf("unwanted", running),
      podOf("waiting", {}),
      podOf("ending", running, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    ]);
    const { pods } = await useRuntime();
    const { survivors } = await pods.open();
    onTestFinished(() => pods.close());
    expect(survivors).toMatchObject([{ endpointId: "e1", workerId: "w1", configuration: "c1" }, { workerId: "" }]);
    const process = survivors[0]?.adopt(workerOf().worker, undefined);
    expect(process?.location?.()).toMatchObject({ phase: "Running" });
    expect(process).not.toHaveProperty("started");
    await pods.listen();
    await expect.poll(() => api.watches.size).toBe(1);
    const removed = ["DELETE pods/unwanted", "DELETE pods/waiting"];
    await expect.poll(api.changes).toEqual(expect.arrayContaining(removed));
    for (const kept of [name, "ending"]) expect(api.changes()).not.toContain(`DELETE pods/${kept}`);
  });

  test("follows its pods again after the API server was away, and warns once", async () => {
    const { api, warnings, start } = await useWorker();
    const process = start();
    await expect.poll(api.changes).toHaveLength(3);
    api.report(running);
    await process.started;
    api.replaced.set("GET pods", rejection(503, "no leader"));
    for (const watch of api.watches) watch.destroy();
    const lists = (): number => api.calls.filter((call) => call === "GET pods").length;
    const before = lists();
    await expect.poll(lists).toBeGreaterThan(before + 2);
    expect(warnings).toEqual([expect.stringMatching(/closed the connection|no leader/)]);
    api.pods.delete(name);
    api.replaced.delete("GET pods");
    expect(await process.ended).toMatchObject({ description: "was deleted from the cluster" });
  });

  test.each([false, true])(
    "lists its pods again if a watch does not end in time, without a response: %s",
    async (isHeld) => {
      const api = await useApiServer();
      if (isHeld) onTestFinished(api.hold("watch"));
      const { pods } = await useRuntime({ speed: 5000 });
      await pods.open();
      await pods.listen();
      onTestFinished(() => pods.close());
      await expect.poll(() => api.calls.filter((call) => call === "watch").length).toBeGreaterThan(1);
    },
  );

  test("lists its pods again if the version of its watch is too old", async () => {
    const { api, warnings } = await useWorker();
    const lists = (): number => api.calls.filter((call) => call === "GET pods").length;
    const before = lists();
    api.emit("ERROR", { code: 410, message: "too old resource version: 1 (240)" });
    await expect.poll(lists).toBe(before + 1);
    expect(warnings).toEqual([]);
  });

  test.each([
    ["no JSON", "<html>", "invalid JSON"],
    ["no pod", JSON.stringify({ type: "MODIFIED", object: {} }), "metadata: "],
  ])("says why it follows its pods anew if an event is %s", async (_what, event, reason) => {
    const { api, warnings } = await useWorker();
    for (const watch of api.watches) watch.write(`${event}\n`);
    await expect.poll(() => warnings).toEqual([expect.stringMatching(`^http:.* sent an invalid event: ${reason}`)]);
    await expect.poll(() => api.calls.filter((call) => call === "watch").length).toBe(2);
  });

  test("counts no pod as deleted that was created during an older list", async () => {
    const { api, start } = await useWorker();
    const lists = (): number => api.calls.filter((call) => call === "GET pods").length;
    const before = lists();
    const proceed = api.hold("GET pods");
    for (const watch of api.watches) watch.destroy();
    await expect.poll(lists).toBe(before + 1);
    const process = start();
    await expect.poll(() => process.location?.()).toMatchObject({ node: "node-1" });
    proceed();
    await expect.poll(() => api.watches.size).toBe(1);
    api.report(running);
    await expect(Promise.race([process.started, process.ended])).resolves.toBeUndefined();
  });

  test("names the place in which a killed service may have left pods, but not that of a stopped one", async () => {
    await useApiServer();
    const dataFolder = scratchFolder();
    const startIn = async (namespace: string) => {
      const { pods } = await useRuntime({ settings: { namespace }, dataFolder });
      await pods.open();
      onTestFinished(() => pods.close());
      return { pods, earlier: (await pods.listen())["earlier"] };
    };
    expect(await startIn("gpu")).toMatchObject({ earlier: undefined });
    expect(await startIn("gpu")).toMatchObject({ earlier: undefined });
    const { pods, earlier } = await startIn("other");
    expect(earlier).toMatch(
      /^pods may remain in the namespace gpu of http:\S+; delete them by their label serverless-compute\/service=\S+$/,
    );
    prepareDataFolder(dataFolder);
    await pods.close();
    expect(await startIn("gpu")).toMatchObject({ earlier: undefined });
  });

  test.each([
    ["that remain after its stop", (api: ApiServer) => api.pods.set(name, podOf(name, running)), undefined],
    [
      "if their end cannot be confirmed",
      (api: ApiServer) => api.replaced.set("GET pods", rejection(503, "away")),
      "away",
    ],
  ])("names the place of pods %s", async (_which, prepare, problem) => {
    const api = await useApiServer();
    const dataFolder = scratchFolder();
    const { pods } = await useRuntime({ dataFolder });
    await pods.listen();
    await expect.poll(() => api.watches.size).toBe(1);
    prepare(api);
    if (problem === undefined) await pods.close();
    else await expect(pods.close()).rejects.toThrow(problem);
    api.replaced.delete("GET pods");
    const next = await useRuntime({ dataFolder, settings: { namespace: "other" } });
    onTestFinished(() => next.pods.close());
    expect(await next.pods.listen()).toHaveProperty("earlier");
  });

  test("leaves the pods that it adopted if it cannot start, and reads their logs no longer", async () => {
    const api = await useApiServer([podOf(name, running, owned)]);
    const proceed = api.hold(`GET pods/${name}/log`);
    onTestFinished(proceed);
    const { pods } = await useRuntime();
    const { survivors } = await pods.open();
    const { worker, lines } = workerOf();
    const process = survivors[0]?.adopt(worker, undefined);
    await expect.poll(() => api.calls).toContain(`GET pods/${name}/log`);
    await pods.close();
    await expect.poll(api.openCalls).toBe(0);
    expect(await Promise.race([process?.ended, Promise.resolve("not ended")])).toBe("not ended");
    expect(api.changes()).toEqual([]);
    expect(lines).toEqual([`runs in the pod ${name} on the node node-1`]);
  });

  test("requires an address for workers outside of a cluster", async () => {
    await useApiServer();
    await expect(useRuntime({ settings: { workerUrl: undefined } })).rejects.toThrow(
      "kubernetes.workerUrl: is required outside of a cluster",
    );
  });

  const forwarded = "   forward it to this service";
  test.each([
    ["http://10.0.0.1:7338/", undefined, ["10.0.0.1:7338"], "http://10.0.0.1:7338"],
    ["http://10.0.0.1", undefined, ["10.0.0.1:80"], "http://10.0.0.1"],
    ["http://[fd00::1]:7338", undefined, ["fd00::1:7338"], "http://[fd00::1]:7338"],
    ["http://workers.test:7338", undefined, [], `http://workers.test:7338${forwarded}`],
    ["https://10.0.0.1:7338", undefined, [], `https://10.0.0.1:7338${forwarded}`],
    ["http://10.0.0.1:7338", "EADDRNOTAVAIL", ["10.0.0.1:7338"], `http://10.0.0.1:7338${forwarded}`],
    [`http://10.0.0.1:${port}`, "EADDRINUSE", [`10.0.0.1:${port}`], `http://10.0.0.1:${port}`],
    ["http://10.0.0.1:7338", "EADDRINUSE", ["10.0.0.1:7338"], undefined],
    [`http://10.0.0.1:${port}`, "EACCES", [`10.0.0.1:${port}`], undefined],
  ])("accepts the calls of workers at %s, with the error %s", async (workerUrl, code, listens, address) => {
    await useApiServer();
    const listened: string[] = [];
    const { pods } = await useRuntime({
      settings: { workerUrl },
      async listenForWorkers(host, urlPort) {
        listened.push(`${host}:${urlPort}`);
        if (code !== undefined) throw Object.assign(new Error(code), { code });
        return urlPort;
      },
    });
    onTestFinished(() => pods.close());
    const place = pods.listen();
    if (address === undefined)
      await expect(place).rejects.toThrow(
        `kubernetes.workerUrl: ${workerUrl} cannot be used: ${code}; specify another port`,
      );
    else
      expect(await place).toMatchObject({
        cluster: expect.stringMatching(/ {3}context test$/),
        namespace: "gpu",
        address,
      });
    expect(listened).toEqual(listens);
  });
});

test("the claim of a deleted volume is deleted, even if it never existed", async () => {
  const api = await useApiServer();
  const { pods } = await useRuntime();
  for (const method of ["PATCH", "DELETE"])
    api.replaced.set(`${method} persistentvolumeclaims/serverless-compute-v2`, rejection(404, "not found"));
  for (const id of ["v1", "v2"]) await pods.removeVolume(id);
  expect(api.changes().filter((call) => call.startsWith("DELETE"))).toEqual(
    ["v1", "v2"].map((id) => `DELETE persistentvolumeclaims/serverless-compute-${id}`),
  );
});

test("the claim of another service's volume remains", async () => {
  const api = await useApiServer();
  const { pods } = await useRuntime();
  api.replaced.set("PATCH persistentvolumeclaims/serverless-compute-v1", rejection(422, "the request is invalid"));
  await expect(pods.removeVolume("v1")).rejects.toThrow(
    "the claim serverless-compute-v1 belongs to another service; delete it once no service uses it",
  );
  expect(api.changes().filter((call) => call.startsWith("DELETE"))).toEqual([]);
});

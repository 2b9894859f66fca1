import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callJobTools, type McpServer, startMcpServer } from "./mcp-client";
import { type SdkRig, startRig } from "./rig";
import { versions } from "./versions";

let rig: SdkRig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

describe.each(["v1", "v2"] as const)(
  `npm @runpod/mcp-server ${versions.mcpServer3}: RUNPOD_REST_VERSION=%s`,
  (version) => {
    let mcp: McpServer;
    beforeAll(async () => {
      mcp = await startMcpServer(rig, versions.mcpServer3, version);
    });
    afterAll(() => mcp[Symbol.asyncDispose]());

    it("create-template, get-template, list-templates, update-template, delete-template", async () => {
      const name = `mcp-template-${version}`;
      const fields = { imageName: "acme/echo:1", isServerless: true, containerDiskInGb: 5, volumeInGb: 0 };
      const templateId = await mcp.create("create-template", { name, ...fields, env: { A: "1" } });
      expect(await mcp.text("get-template", { templateId })).toContain("acme/echo:1");
      expect(await mcp.text("list-templates")).toContain(templateId);
      await mcp.call("update-template", { templateId, imageName: "acme/echo:2" });
      expect(await mcp.text("get-template", { templateId })).toContain("acme/echo:2");
      await mcp.call("delete-template", { templateId });
      expect(await mcp.text("list-templates")).not.toContain(templateId);
    });

    it("create-network-volume, get-network-volume, list-network-volumes, update-network-volume, delete-network-volume", async () => {
      const input = { name: `mcp-volume-${version}`, size: 20, dataCenterId: "EU-RO-1" };
      const networkVolumeId = await mcp.create("create-network-volume", input);
      expect(await mcp.text("list-network-volumes")).toContain(networkVolumeId);
      await mcp.call("update-network-volume", { networkVolumeId, size: 30 });
      expect(await mcp.call("get-network-volume", { networkVolumeId })).toMatchObject({
        id: networkVolumeId,
        size: 30,
      });
      await mcp.call("delete-network-volume", { networkVolumeId });
      expect(await mcp.text("list-network-volumes")).not.toContain(networkVolumeId);
    });

    it("create-container-registry-auth, get-container-registry-auth, list-container-registry-auths, delete-container-registry-auth", async () => {
      const input = { name: `mcp-registry-${version}`, username: "reader", password: "hush-hush" };
      const containerRegistryAuthId = await mcp.create("create-container-registry-auth", input);
      expect(await mcp.call("get-container-registry-auth", { containerRegistryAuthId })).toMatchObject({
        name: input.name,
      });
      expect(await mcp.text("list-container-registry-auths")).toContain(containerRegistryAuthId);
      await mcp.call("delete-container-registry-auth", { containerRegistryAuthId });
      expect(await mcp.text("list-container-registry-auths")).not.toContain(containerRegistryAuthId);
    });

    it("create-endpoint, get-endpoint, list-endpoints, update-endpoint, set-endpoint-gpus, delete-endpoint", async () => {
      const template = { name: `mcp-endpoint-${version}`, imageName: "acme/echo:1", isServerless: true, volumeInGb: 0 };
      const templateId = await mcp.create("create-template", template);
      // With REST v2, this client accepts an image but no template.
      const noun =
        version === "v1"
          ? { templateId, gpuTypeIds: ["NVIDIA L4"] }
          : { imageName: "acme/echo:1", gpuPoolIds: ["AMPERE_24"] };
      const input = { name: template.name, ...noun, workersMin: 0, workersMax: 0 };
      const endpointId = await mcp.create("create-endpoint", input);
      expect(await mcp.text("list-endpoints", { includeTemplate: true })).toContain(endpointId);
      await mcp.call("update-endpoint", { endpointId, idleTimeout: 33 });
      await mcp.call("set-endpoint-gpus", { endpointId, pools: ["ADA_24"] });
      const object = await mcp.text("get-endpoint", { endpointId, includeWorkers: true });
      expect(object).toContain("33");
      expect(object).toMatch(/ADA_24|RTX 4090/);
      await mcp.call("delete-endpoint", { endpointId });
      expect(await mcp.text("list-endpoints")).not.toContain(endpointId);
    });

    it("run-endpoint, runsync-endpoint, get-job-status, stream-job, cancel-job, retry-job, endpoint-health, purge-endpoint-queue", async () => {
      await callJobTools(rig, mcp);
    });

    it("list-gpu-types, list-data-centers", async () => {
      expect(await mcp.text("list-gpu-types")).toContain("NVIDIA A40");
      expect(await mcp.text("list-data-centers")).toContain("EU-RO-1");
    });
  },
);

describe(`npm @runpod/mcp-server ${versions.mcpServer3}: RUNPOD_REST_VERSION=v2`, () => {
  it("get-gpu-type, list-cpu-types, get-cpu-type, get-data-center", async () => {
    await using mcp = await startMcpServer(rig, versions.mcpServer3, "v2");
    expect(await mcp.call("get-gpu-type", { gpuTypeId: "NVIDIA A40" })).toMatchObject({ memory: 48 });
    expect(await mcp.text("list-cpu-types")).toContain("cpu3c");
    expect(await mcp.call("get-cpu-type", { cpuTypeId: "cpu3c" })).toMatchObject({ id: "cpu3c" });
    expect(await mcp.call("get-data-center", { dataCenterId: "EU-RO-1" })).toMatchObject({ id: "EU-RO-1" });
  });

  it("get-billing, get-capacity, list-pods", async () => {
    await using mcp = await startMcpServer(rig, versions.mcpServer3, "v2");
    expect(await mcp.call("get-billing")).toMatchObject({ metadata: { recordCount: 0 } });
    expect(await mcp.text("get-capacity")).toContain('"12.8":"AVAILABLE"');
    expect(await mcp.call("list-pods")).toMatchObject({ items: [] });
  });

  it("list-endpoint-workers, list-endpoint-releases, stream-worker-logs", async () => {
    await using mcp = await startMcpServer(rig, versions.mcpServer3, "v2");
    const endpointId = await rig.endpoint("plain.mjs");
    await expect
      .poll(() => mcp.call("list-endpoint-workers", { endpointId }), { timeout: 30_000, interval: 50 })
      .toMatchObject({ summary: { idle: 1 } });
    expect(await mcp.text("list-endpoint-releases", { endpointId })).toContain('"version":1');
    const list = await mcp.text("list-endpoint-workers", { endpointId });
    const [, workerId = ""] = /"id":"(local-\w+)"/.exec(list) ?? [];
    const logs = await mcp.call("stream-worker-logs", { endpointId, workerId, maxWaitMs: 3000 });
    expect(JSON.stringify(logs)).toContain("worker starts for the image");
  });
});

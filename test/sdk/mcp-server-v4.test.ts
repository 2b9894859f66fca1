import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callJobTools, type McpServer, startMcpServer } from "./mcp-client";
import { type SdkRig, startRig } from "./rig";
import { versions } from "./versions";

let rig: SdkRig;
let mcp: McpServer;
beforeAll(async () => {
  rig = await startRig();
  mcp = await startMcpServer(rig, versions.mcpServer, "v2");
});
afterAll(async () => {
  await mcp[Symbol.asyncDispose]();
  await rig[Symbol.asyncDispose]();
});

describe(`npm @runpod/mcp-server ${versions.mcpServer}`, () => {
  it("create-template, get-template, list-templates, update-template, delete-template", async () => {
    const body = { name: "mcp-4-template", image: "acme/echo:1", serverless: true };
    const id = await mcp.create("create-template", { body });
    await mcp.call("update-template", { id, body: { image: "acme/echo:2" } });
    expect(await mcp.call("get-template", { id })).toMatchObject({ image: "acme/echo:2" });
    expect(await mcp.text("list-templates")).toContain(id);
    await mcp.call("delete-template", { id });
    expect(await mcp.text("list-templates")).not.toContain(id);
  });

  it("create-network-volume, get-network-volume, list-network-volumes, update-network-volume, delete-network-volume", async () => {
    const body = { name: "mcp-4-volume", size: 20, dataCenter: "EU-RO-1" };
    const id = await mcp.create("create-network-volume", { body });
    await mcp.call("update-network-volume", { id, body: { size: 30 } });
    expect(await mcp.call("get-network-volume", { id })).toMatchObject({ size: 30 });
    expect(await mcp.text("list-network-volumes")).toContain(id);
    await mcp.call("delete-network-volume", { id });
    expect(await mcp.text("list-network-volumes")).not.toContain(id);
  });

  it("create-registry, get-registry, list-registries, delete-registry", async () => {
    const body = { name: "mcp-4-registry", username: "reader", password: "hush-hush" };
    const id = await mcp.create("create-registry", { body });
    expect(await mcp.call("get-registry", { id })).toMatchObject({ name: body.name });
    expect(await mcp.text("list-registries")).toContain(id);
    await mcp.call("delete-registry", { id });
    expect(await mcp.call("list-registries")).toMatchObject({ registries: [] });
  });

  it("create-delegation, list-delegations, revoke-delegation", async () => {
    const resource = "arn:aws:ecr:eu-west-1:123456789012:repository/acme/chat";
    const id = await mcp.create("create-delegation", { body: { resource, name: "mcp-4" } });
    expect(await mcp.call("list-delegations")).toMatchObject({ delegations: [{ id, repository: "acme/chat" }] });
    await mcp.call("revoke-delegation", { id });
    expect(await mcp.call("list-delegations")).toEqual({ delegations: [] });
  });

  it("create-endpoint, get-endpoint, list-endpoints, update-endpoint, set-endpoint-gpus, list-endpoint-builds, list-endpoint-releases, list-endpoint-workers, delete-endpoint", async () => {
    const scaling = { type: "QUEUE_DELAY", queueDelay: 4 };
    const body = { name: "mcp-4", type: "QUEUE", scaling, gpu: { pools: ["AMPERE_24"] }, image: "acme/echo:1" };
    const id = await mcp.create("create-endpoint", { body: { ...body, workers: { min: 0, max: 0 } } });
    await mcp.call("update-endpoint", { id, body: { name: "mcp-4-other" } });
    await mcp.call("set-endpoint-gpus", { endpointId: id, pools: ["ADA_24"] });
    expect(await mcp.call("get-endpoint", { id })).toMatchObject({ name: "mcp-4-other", gpu: { pools: ["ADA_24"] } });
    expect(await mcp.text("list-endpoints")).toContain(id);
    expect(await mcp.call("list-endpoint-builds", { id })).toMatchObject({ builds: [] });
    expect(await mcp.call("list-endpoint-releases", { id })).toMatchObject({ endpointVersion: 1 });
    expect(await mcp.call("list-endpoint-workers", { id })).toMatchObject({ workers: [] });
    await mcp.call("delete-endpoint", { id });
    expect(await mcp.text("list-endpoints")).not.toContain(id);
  });

  it("run-endpoint, runsync-endpoint, get-job-status, stream-job, cancel-job, retry-job, endpoint-health, purge-endpoint-queue", async () => {
    await callJobTools(rig, mcp);
  });

  it("stream-worker-logs", async () => {
    const id = await rig.endpoint("plain.mjs");
    await expect
      .poll(() => mcp.call("list-endpoint-workers", { id }), { timeout: 30_000, interval: 50 })
      .toMatchObject({ summary: { idle: 1 } });
    const [, workerId = ""] = /"id":"(local-\w+)"/.exec(await mcp.text("list-endpoint-workers", { id })) ?? [];
    const logs = await mcp.text("stream-worker-logs", { endpointId: id, workerId, maxWaitMs: 3000 });
    expect(logs).toContain("worker starts for the image");
  });

  it("list-gpu-types, get-gpu-type, list-cpu-types, get-cpu-type, list-data-centers, get-data-center, list-public-templates, get-capacity", async () => {
    expect(await mcp.text("list-gpu-types", { include: ["AVAILABILITY"], product: ["SERVERLESS"] })).toContain(
      "NVIDIA A40",
    );
    expect(await mcp.call("get-gpu-type", { id: "NVIDIA A40" })).toMatchObject({ memory: 48 });
    expect(await mcp.text("list-cpu-types")).toContain("cpu3c");
    const cpu = { id: "cpu3c", include: ["AVAILABILITY"] };
    expect(await mcp.call("get-cpu-type", { ...cpu, product: ["SERVERLESS"] })).toMatchObject({ id: "cpu3c" });
    await expect(mcp.call("get-cpu-type", cpu)).rejects.toThrow("include: requires product");
    expect(await mcp.text("list-data-centers", { regions: ["EUROPE"] })).toContain("EU-RO-1");
    expect(await mcp.call("get-data-center", { id: "EU-RO-1" })).toMatchObject({ region: "EUROPE" });
    expect(await mcp.call("list-public-templates", { source: "community" })).toMatchObject({ templates: [] });
    expect(await mcp.text("get-capacity")).toContain('"12.8":"AVAILABLE"');
  });

  it("get-ssh-keys, update-ssh-keys, list-pods, list-billing, list-pod-billing, list-serverless-billing, list-endpoint-billing, list-network-volume-billing, list-cluster-billing", async () => {
    const keys = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 mcp"];
    await mcp.call("update-ssh-keys", { body: { keys } });
    expect(await mcp.call("get-ssh-keys")).toEqual({ keys });
    expect(await mcp.call("list-pods")).toMatchObject({ pods: [] });
    for (const list of ["", "-pod", "-serverless", "-endpoint", "-network-volume", "-cluster"])
      expect(await mcp.call(`list${list}-billing`, { lastN: 3 })).toMatchObject({ metadata: { recordCount: 0 } });
  });
});

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import { at } from "../support/raw-http";
import { findMcpServer } from "./programs";
import type { SdkRig } from "./rig";

/** Client of the MCP server: tools by name. */
export interface McpServer {
  /** Returns a tool's result, parsed. Rejects with the tool's error text. */
  call(tool: string, input?: object): Promise<unknown>;
  /** Returns a tool's result as text. */
  text(tool: string, input?: object): Promise<string>;
  /** Returns the id in a tool's result. */
  create(tool: string, input: object): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a version of the unmodified server for a service, with JSON-RPC over its standard streams; `rest` is its REST version. */
export async function startMcpServer({ service }: SdkRig, version: string, rest: "v1" | "v2"): Promise<McpServer> {
  const installed = await findMcpServer(version);
  const child = spawn(process.execPath, [installed.path], {
    env: {
      PATH: process.env["PATH"],
      HOME: installed.folder,
      RUNPOD_API_KEY: service.apiKey,
      RUNPOD_REST_VERSION: rest,
      RUNPOD_API_BASE_URL: service.serverlessUrl,
      RUNPOD_REST_API_URL: service.baseUrl,
      RUNPOD_REST_V2_API_URL: `${service.serverlessUrl}/v2`,
      RUNPOD_SERVERLESS_API_URL: `${service.serverlessUrl}/v2`,
      RUNPOD_PUBLIC_GRAPHQL_URL: service.graphqlUrl,
      RUNPOD_AUTHED_GRAPHQL_URL: service.graphqlUrl,
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const exit = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const pendingCalls = new Map<unknown, (response: unknown) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const response: unknown = JSON.parse(line);
    pendingCalls.get(at(response, "id"))?.(response);
  });
  const sendMessage = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let nextId = 0;
  const request = (method: string, params: object): Promise<unknown> =>
    new Promise((resolve) => {
      const id = ++nextId;
      pendingCalls.set(id, resolve);
      sendMessage({ id, method, params });
    });
  const clientInfo = { name: "test", version: "1" };
  await request("initialize", { protocolVersion: "2024-11-05", capabilities: {}, clientInfo });
  sendMessage({ method: "notifications/initialized" });

  const call: McpServer["call"] = async (tool, input = {}) => {
    const response = await request("tools/call", { name: tool, arguments: input });
    const text = at(response, "result", "content", 0, "text");
    if (typeof text !== "string" || at(response, "result", "isError") === true)
      throw new Error(`${tool}: ${JSON.stringify(response)}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  return {
    call,
    text: async (tool, input) => JSON.stringify(await call(tool, input)),
    async create(tool, input) {
      const created = await call(tool, input);
      const id = at(created, "id");
      if (typeof id !== "string") throw new Error(`no id in ${JSON.stringify(created)}`);
      return id;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      child.kill();
      await exit;
    },
  };
}

/** Calls each tool about jobs, and checks its result. */
export async function callJobTools(rig: SdkRig, mcp: McpServer): Promise<void> {
  const endpointId = await rig.endpoint("plain.mjs");
  expect(await mcp.call("runsync-endpoint", { endpointId, input: { text: "now" } })).toMatchObject({
    status: "COMPLETED",
    output: { echo: { text: "now" } },
  });
  const jobId = await mcp.create("run-endpoint", { endpointId, input: { do: "progress", seconds: 20 } });
  await expect
    .poll(() => mcp.call("get-job-status", { endpointId, jobId }), { timeout: 30_000, interval: 50 })
    .toMatchObject({ status: "IN_PROGRESS" });
  await mcp.call("run-endpoint", { endpointId, input: { text: "purged" } });
  expect(await mcp.call("purge-endpoint-queue", { endpointId })).toMatchObject({ removed: 1 });
  expect(await mcp.call("cancel-job", { endpointId, jobId })).toMatchObject({ status: "CANCELLED" });
  await expect(mcp.call("retry-job", { endpointId, jobId })).rejects.toThrow(/CANCELLED|FAILED/);
  expect(await mcp.call("endpoint-health", { endpointId })).toMatchObject({ jobs: { inQueue: 0 } });
  const streaming = await rig.endpoint("generator.mjs");
  const streamed = await mcp.create("run-endpoint", { endpointId: streaming, input: { count: 3 } });
  const chunks = await mcp.text("stream-job", { endpointId: streaming, jobId: streamed });
  for (const index of [0, 1, 2]) expect(chunks).toContain(`{"index":${index}}`);
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, useEngineService } from "../support/engine-service";
import { createStack, type Stack } from "../support/pulumi";
import { pluginFolder, pluginWay } from "./support/way";

let service: EngineService;
let stack: Stack;
const plugin = { end: (): void => {} };
beforeAll(async () => {
  service = await useEngineService();
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], ...service.environment };
  const child = spawn(join(pluginFolder(), "pulumi-resource-serverless-compute"), {
    stdio: ["ignore", "pipe", "inherit"],
    env,
  });
  plugin.end = () => void child.kill("SIGKILL");
  const [port] = await once(child.stdout.setEncoding("utf8"), "data");
  const debugged = `serverless-compute:${String(port).trim()}`;
  // Only this variable locates the plugin, so the deployment uses the process above.
  stack = await createStack({ ...service.environment, PULUMI_DEBUG_PROVIDERS: debugged });
});
afterAll(async () => {
  plugin.end();
  await stack.remove();
});

it("one process under a debugger serves several commands, including progress", async () => {
  await stack.writeProgram(`
    const { ServerlessEndpoint, Template } = require("${pluginWay.module}");
    const template = new Template("chat", { imageName: "acme/chat:1" });
    new ServerlessEndpoint("chat", { templateId: template.id, workersMax: 0 });
  `);
  await stack.preview();
  for (const _ of ["first", "second"]) {
    await stack.up();
    service.proxy.inject({ method: "DELETE" }, { kind: "status", status: 503, retryAfter: "1" });
    const destroy = await stack.destroy();
    const output = destroy.diagnostics.filter(({ ephemeral }) => ephemeral);
    expect(output[0]?.message).toContain("request failed (503); retrying in");
  }
  expect(await service.listObjects()).toEqual({ endpoints: [], volumes: [], templates: [], secrets: [] });
});

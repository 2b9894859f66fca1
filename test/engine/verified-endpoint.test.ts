import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { dynamicWay } from "./way";

let service: EngineService;
let stack: Stack;
beforeAll(async () => {
  service = await useEngineService();
  stack = await dynamicWay.createStack(service.environment);
  await stack.writeProgram(`
  const { VerifiedEndpoint } = require("${dynamicWay.module}");
  const chat = new VerifiedEndpoint("chat", {
    template: { imageName: "${image("echo")}", name: "chat" },
    endpoint: { workersMax: 1 },
    verify: { input: { text: "pong" }, expect: { output: { text: "pong" } }, timeout: 60 },
  });
  module.exports = { url: chat.url, id: chat.endpointId, version: chat.version, revision: chat.revision };
`);
});
afterAll(() => stack.remove());

it("a VerifiedEndpoint creates a template and a verified endpoint, and has their outputs", async () => {
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  const { output } = await stack.command(["stack", "output", "--json"]);
  const { endpoints, templates } = await service.listObjects();
  expect(templates).toEqual([expect.objectContaining({ name: expect.stringMatching(/^chat-[0-9a-f]{7}$/) })]);
  const [endpoint] = endpoints;
  expect(JSON.parse(output)).toEqual({
    url: `${service.proxy.origin}/v2/${endpoint?.id}`,
    id: endpoint?.id,
    version: 1,
    revision: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
  expect(service.proxy.requests.filter(({ path }) => path.endsWith("/run"))).toHaveLength(1);
});

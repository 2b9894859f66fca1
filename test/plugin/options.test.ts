import { afterAll, beforeAll, expect, it } from "vitest";
import { fingerprinted } from "../support/default-names";
import { restPaths } from "../support/dialect";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { pluginWay } from "./support/way";

let service: EngineService;
let stack: Stack;
beforeAll(async () => {
  service = await useEngineService({ templateRelease: 60_000 });
  stack = await pluginWay.createStack(service.environment);
});
afterAll(() => stack.remove());

const program = (options: object): string => `
  const { ServerlessEndpoint, Template } = require("${pluginWay.module}");
  const template = new Template("chat", { imageName: "${image("echo")}" }, ${JSON.stringify(options)});
  new ServerlessEndpoint("chat", { templateId: template.id, workersMax: 0 });
`;

it("a resource's name follows the stack's autonaming and does not change later", async () => {
  const set = await stack.command(["config", "set", "--path", "pulumi:autonaming.pattern", `\${name}-\${alphanum(5)}`]);
  expect(set.code, set.output).toBe(0);
  await stack.program(program({ customTimeouts: { delete: "3s" } }));
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  const made = await service.holdings();
  expect(made.templates).toMatchObject([{ name: expect.stringMatching(/^chat-[a-z0-9]{5}$/i) }]);
  const again = await stack.up();
  expect(again.operations, again.output).toEqual({ "Template chat": ["same"], "ServerlessEndpoint chat": ["same"] });
  expect((await service.holdings()).templates).toMatchObject([{ name: made.templates[0]?.name }]);
});

it("a name is required if autonaming is disabled", async () => {
  await stack.command(["config", "rm", "--path", "pulumi:autonaming"]);
  const set = await stack.command(["config", "set", "--path", "pulumi:autonaming.mode", "disabled"]);
  expect(set.code, set.output).toBe(0);
  await stack.program(`
    const { Template } = require("${pluginWay.module}");
    new Template("other", { imageName: "acme/other:1" });
  `);
  const preview = await stack.preview();
  expect(preview.code).not.toBe(0);
  expect(preview.output).toContain("property name value {<nil>} has a problem: is required");
  await stack.command(["config", "rm", "--path", "pulumi:autonaming"]);
});

it("a create and an update end at their custom timeouts, and the next deployment completes them", async () => {
  const options = { customTimeouts: { create: "1s", update: "2s" } };
  const withVolume = (size: number): string => `${program({ customTimeouts: { delete: "3s" } })}
    const { NetworkVolume } = require("${pluginWay.module}");
    new NetworkVolume("models", { size: ${size}, dataCenterId: "EU-RO-1" }, ${JSON.stringify(options)});
  `;
  const steps = [
    { operation: "create", size: 10, method: "POST" },
    { operation: "update", size: 20, method: "PATCH" },
  ];
  for (const { operation, size, method } of steps) {
    await stack.program(withVolume(size));
    service.proxy.clear();
    // Without the timeout it would wait as requested and then succeed.
    const busy = { kind: "status", status: 503, retryAfter: "5" } as const;
    service.proxy.inject({ method, path: new RegExp(restPaths.volumes) }, busy);
    const late = await stack.up();
    expect(late.code).not.toBe(0);
    expect(late.output).toContain(`NetworkVolume "models-dev-`);
    expect(late.output).toContain(`(customTimeouts.${operation})`);
    service.proxy.clear();
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect((await service.holdings()).volumes).toMatchObject([{ name: fingerprinted("models-dev"), size }]);
    expect(up.operations, up.output).toMatchObject({ "NetworkVolume models": [operation] });
  }
});

it("a delete ends at its custom timeout and keeps the resource", async () => {
  await service.lastUse(String((await service.holdings()).templates[0]?.id));
  const destroy = await stack.destroy();
  expect(destroy.code).not.toBe(0);
  expect(destroy.output).toContain("is still in use after 2 s");
  expect(destroy.output).toContain("delete timed out after 3 s (customTimeouts.delete)");
  expect(await stack.resources()).toMatchObject([{ type: "serverless-compute:index:Template" }]);
});

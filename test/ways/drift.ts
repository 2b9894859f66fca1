import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

/** What somebody changed behind our back. */
export function driftThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
    await stack.program(`
    const { NetworkVolume, ServerlessEndpoint, Template } = require("${way.module}");
    const template = new Template("chat", { imageName: "acme/chat:1", env: { A: "1", B: "2" } });
    new ServerlessEndpoint("chat", { templateId: template.id, workersMax: 0, idleTimeout: 5 });
    new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" });
  `);
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
  });
  afterAll(() => stack.remove());

  it("a refresh shows what somebody changed, property by property", async () => {
    const [template] = (await service.holdings()).templates;
    const [endpoint] = (await service.holdings()).endpoints;
    await service.rest("PATCH", `/templates/${template?.id}`, { env: { A: "1", B: "3" } });
    await service.rest("PATCH", `/endpoints/${endpoint?.id}`, { idleTimeout: 60 });
    const refresh = await stack.refresh({ args: ["--diff"] });
    expect(refresh.code, refresh.output).toBe(0);
    expect(refresh.operations).toMatchObject({
      "Template chat": ["update"],
      "ServerlessEndpoint chat": ["update"],
      "NetworkVolume models": ["same"],
    });
    expect(refresh.output).toMatch(/~ env *: \{[^}]*~ B: "2" => "3"\s+\}/);
    expect(refresh.output).toMatch(/~ idleTimeout *: 5 => 60/);
  });

  it("the next deployment puts it right", async () => {
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.operations).toEqual({
      "Template chat": ["update"],
      "ServerlessEndpoint chat": ["update"],
      "NetworkVolume models": ["same"],
    });
    const after = await service.holdings();
    expect(after.templates).toMatchObject([{ env: { A: "1", B: "2" } }]);
    expect(after.endpoints).toMatchObject([{ idleTimeout: 5 }]);
  });
}

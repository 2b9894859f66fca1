import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

/** What exists already, found by programs; `health` writes the argument of getEndpointHealth, of which each way has its own. */
export function lookUpsThrough(way: Way, health: (id: string) => string): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
    await service.rest("POST", "/networkvolumes", { name: "models", size: 10, dataCenterId: "EU-RO-1" });
    const template = { name: "chat", imageName: image("echo"), isServerless: true, volumeInGb: 0, env: { A: "1" } };
    const made = await service.rest("POST", "/templates", template);
    const { id } = Object(made);
    await service.rest("POST", "/endpoints", { name: "chat", templateId: id, workersMax: 1 });
    await service.graphql('mutation { secretCreate(input: { name: "token", value: "sesame-81cc" }) { id } }');
  });
  afterAll(() => stack.remove());

  it("finds each kind of object by its name, and an endpoint's health by its id", async () => {
    await stack.program(`
    const sc = require("${way.module}");
    module.exports = (async () => {
      const template = await sc.getTemplate({ name: "chat" });
      const endpoint = await sc.getServerlessEndpoint({ name: "chat" });
      const volume = await sc.getNetworkVolume({ name: "models" });
      const secret = await sc.getSecret({ name: "token" });
      const health = await sc.getEndpointHealth(${health("endpoint.id")});
      const again = await sc.getTemplate({ id: template.id });
      return { template, endpoint, volume, secret, health, same: again.name };
    })();
  `);
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    const outputs = await stack.command(["stack", "output", "--json"]);
    const told: unknown = JSON.parse(outputs.output);
    const [endpoint] = (await service.holdings()).endpoints;
    expect(told).toMatchObject({
      template: { name: "chat", imageName: image("echo"), env: { A: "1" }, revision: expect.any(String) },
      endpoint: { id: endpoint?.id, workersMax: 1, version: 1, url: `${service.proxy.origin}/v2/${endpoint?.id}` },
      volume: { name: "models", size: 10, dataCenterId: "EU-RO-1" },
      secret: { name: "token", reference: "{{ RUNPOD_SECRET_token }}" },
      health: { jobs: { inQueue: 0 }, workers: { idle: expect.any(Number) } },
      same: "chat",
    });
    expect(up.output).not.toContain("sesame-81cc");
  });

  it.each([
    ["nobody", '{ name: "nobody" }', 'Template "nobody" does not exist'],
    ["nothing", "{}", "requires either an id or a name"],
  ])("says what is wrong with a look-up of %s", async (_what, args, message) => {
    await stack.program(`module.exports = require("${way.module}").getTemplate(${args}).then((found) => ({ found }));`);
    const preview = await stack.preview();
    expect(preview.code).not.toBe(0);
    expect(preview.output).toContain(message);
    // The message alone: a stack would lead into this package.
    expect(preview.output).not.toMatch(/^ +at .*look-ups/m);
  });
}

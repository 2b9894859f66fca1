import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

/** The wait for the release of a template that was in use. */
export function templateReleaseThrough(way: Way): void {
  /** The service's own two minutes. */
  const release = 120_000;
  let service: EngineService;
  let stack: Stack;
  /** Deploys with REST v1, whose endpoints are bound to their template; endpoints of REST v2 have a copy. */
  const deploy = () => stack.up({ env: { SERVERLESS_COMPUTE_BASE_URL: `${service.proxy.origin}/v1` } });
  beforeAll(async () => {
    service = await useEngineService({ templateRelease: release });
    stack = await way.createStack(service.environment);
    await stack.program(`
    const { ServerlessEndpoint, Template } = require("${way.module}");
    const template = new Template("chat", { imageName: "${image("echo")}" });
    new ServerlessEndpoint("chat", { templateId: template.id, workersMax: 0 });
  `);
    const up = await deploy();
    expect(up.code, up.output).toBe(0);
  });
  afterAll(() => stack.remove());

  it("a template that a foreign endpoint uses fails at once, names the endpoint, and stays in state", async () => {
    const [template] = (await service.holdings()).templates;
    const body = { name: "another", templateId: template?.id, workersMax: 0 };
    const foreign = z.looseObject({ id: z.string() }).parse(await service.rest("POST", "/endpoints", body));
    service.proxy.clear();
    const destroy = await stack.destroy();
    expect(destroy.code).not.toBe(0);
    expect(destroy.output).not.toContain("waiting for the service to release");
    const failures = destroy.diagnostics.filter(
      ({ about, severity }) => about === "Template chat" && severity === "error",
    );
    expect(failures).toMatchObject([{ message: expect.stringContaining('"another"') }]);
    expect(await stack.resources()).toMatchObject([{ id: template?.id }]);
    await service.rest("DELETE", `/endpoints/${foreign.id}`);
  });

  it("destroy waits for the release, shows the seconds, and ends soon after it", async () => {
    const up = await deploy();
    expect(up.code, up.output).toBe(0);
    service.proxy.clear();
    let letGo = 0;
    const watch = setInterval(() => {
      const isGone = service.proxy.requests.some(({ method, status }) => method === "DELETE" && status === 204);
      if (isGone && letGo === 0) letGo = Date.now();
    }, 10);
    const destroy = await stack.destroy().finally(() => clearInterval(watch));
    expect(destroy.code, destroy.output).toBe(0);
    expect(destroy.ended - letGo).toBeGreaterThan(release);
    const shown = destroy.diagnostics.filter(({ about, ephemeral }) => about === "Template chat" && ephemeral);
    expect(shown.at(-1)?.message).toMatch(/^the service released template "chat-dev-\w{7}" after \d+ s$/);
    expect(shown.at(-2)?.message).toMatch(
      /^waiting for the service to release template "chat-dev-\w{7}": \d+ s of at most 150 s$/,
    );
    expect(shown.length).toBeGreaterThan(release / 12_000);
    expect((await service.holdings()).templates).toEqual([]);
  });
}

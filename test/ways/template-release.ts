import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

/** The wait for the release of a template that was in use, with the service's default of two minutes. */
export function describeTemplateRelease(way: Way): void {
  const release = 120_000;
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService({ templateRelease: release });
    stack = await way.createStack(service.environment);
    await stack.writeProgram(`
    const { ServerlessEndpoint, Template } = require("${way.module}");
    const template = new Template("chat", { imageName: "${image("echo")}" });
    new ServerlessEndpoint("chat", { templateId: template.id, workersMax: 0 });
  `);
    // Endpoints of REST v1 are bound to their template; endpoints of REST v2 have a copy.
    await stack.up({ env: { SERVERLESS_COMPUTE_BASE_URL: `${service.proxy.origin}/v1` } });
  });
  afterAll(() => stack.remove());

  it("destroy waits for the release, reports the seconds, and ends soon after it", async () => {
    let endpointDeletedAt = 0;
    const watch = setInterval(() => {
      const isDeleted = service.proxy.requests.some(({ method, status }) => method === "DELETE" && status === 204);
      if (isDeleted && endpointDeletedAt === 0) endpointDeletedAt = Date.now();
    }, 10);
    const destroy = await stack.destroy().finally(() => clearInterval(watch));
    expect(destroy.endTime - endpointDeletedAt).toBeGreaterThan(release);
    const output = destroy.diagnostics.filter(({ resource, ephemeral }) => resource === "Template chat" && ephemeral);
    expect(output.at(-1)?.message).toMatch(/^the service released template "chat-dev-\w{7}" after \d+ s$/);
    expect(output.at(-2)?.message).toMatch(
      /^waiting for the service to release template "chat-dev-\w{7}": \d+ s of at most 150 s$/,
    );
    expect(output.length).toBeGreaterThan(release / 12_000);
    expect((await service.listObjects()).templates).toEqual([]);
  });
}

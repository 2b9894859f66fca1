import { afterAll, beforeAll, expect, it } from "vitest";
import { dialect } from "../support/dialect";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

/** The shortest program: an endpoint with an image and no template, which only REST v2 supports. */
export function describeShortestProgram(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
    await stack.writeProgram(`
      const { ServerlessEndpoint } = require("${way.module}");
      exports.url = new ServerlessEndpoint("chat", { imageName: "${image("echo")}", workersMax: 1 }).url;
    `);
  });
  afterAll(() => stack.remove());

  if (dialect === "v1") {
    it("is rejected by the preview, which names the way out", async () => {
      const { output } = await stack.preview({ end: "failure" });
      expect(output).toContain(
        "templateId: is required with REST v1; create a Template with the image, or set the provider's dialect to v2",
      );
      expect(service.proxy.requests).toEqual([]);
    });
    return;
  }

  it("creates one endpoint and no template, and its workers run jobs", async () => {
    const { operations } = await stack.up();
    expect(operations).toMatchObject({ "ServerlessEndpoint chat": ["create"] });
    const { endpoints, templates } = await service.listObjects();
    expect(endpoints).toHaveLength(1);
    const changes = service.proxy.requests.filter(({ method }) => method !== "GET");
    expect(changes.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /v2/serverless"]);
    expect(templates.filter(({ name }) => !name.endsWith(`__${endpoints[0]?.id}`))).toEqual([]);
    const job = await service.job("POST", endpoints[0]?.id ?? "", "/runsync", { input: { text: "pong" } });
    expect(job).toMatchObject({ status: "COMPLETED", output: { text: "pong" } });
  });

  it("changes nothing on the second deployment, and a refresh finds no drift", async () => {
    await stack.preview({ args: ["--expect-no-changes"] });
    await stack.refresh({ args: ["--expect-no-changes"] });
  });

  it("is destroyed completely", async () => {
    await stack.destroy();
    expect(await service.listObjects()).toMatchObject({ endpoints: [], templates: [] });
  });
}

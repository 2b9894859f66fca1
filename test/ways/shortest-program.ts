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
    await stack.writeProgram(program("workersMax: 1"));
  });
  const program = (settings: string): string => `
      const { JobInvoke, ServerlessEndpoint } = require("${way.module}");
      const chat = new ServerlessEndpoint("chat", { imageName: "${image("echo")}", ${settings} });
      const smoke = { endpointId: chat.id, input: { text: "pong" }, triggers: [chat.revision] };
      new JobInvoke("answers", smoke);
      exports.url = chat.url;
    `;
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
    expect(operations).toMatchObject({ "ServerlessEndpoint chat": ["create"], "JobInvoke answers": ["create"] });
    const { endpoints, templates } = await service.listObjects();
    expect(endpoints).toHaveLength(1);
    const changes = service.proxy.requests.filter(({ method }) => method !== "GET");
    expect(changes.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /v2/serverless",
      `POST /v2/${endpoints[0]?.id}/run`,
    ]);
    expect(templates.filter(({ name }) => !name.endsWith(`__${endpoints[0]?.id}`))).toEqual([]);
    const job = (await stack.resources()).find(({ urn }) => urn.endsWith("::answers"));
    expect(job?.outputs).toMatchObject({ status: "COMPLETED", output: { text: "pong" } });
  });

  it("changes nothing on the second deployment, and a refresh finds no drift", async () => {
    await stack.preview({ args: ["--expect-no-changes"] });
    await stack.refresh({ args: ["--expect-no-changes"] });
  });

  it("runs the job again if the container changes, but not if the scaling does", async () => {
    await stack.writeProgram(program("workersMax: 2"));
    const scaled = await stack.up();
    expect(scaled.operations["ServerlessEndpoint chat"]).toEqual(["update"]);
    expect(scaled.operations["JobInvoke answers"]).toEqual(["same"]);
    await stack.writeProgram(program('workersMax: 2, env: { MODEL: "small" }'));
    const preview = await stack.preview();
    const { operations } = await stack.up();
    for (const changes of [preview.operations, operations])
      expect(changes).toMatchObject({ "ServerlessEndpoint chat": ["update"], "JobInvoke answers": ["update"] });
    await stack.preview({ args: ["--expect-no-changes"] });
  });

  it("is destroyed completely", async () => {
    await stack.destroy();
    expect(await service.listObjects()).toMatchObject({ endpoints: [], templates: [] });
  });
}

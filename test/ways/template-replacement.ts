import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

/** A template that an endpoint uses and that cannot be changed in place. */
export function templateReplacementThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
  });
  afterAll(() => stack.remove());

  const program = (worker: object): string => `
  const { ServerlessEndpoint, Template } = require("${way.module}");
  const worker = new Template("worker", { imageName: "${image("echo")}", ...${JSON.stringify(worker)} });
  new ServerlessEndpoint("api", { templateId: worker.id, workersMax: 0 });
`;

  it("under its name is warned of, fails while the endpoint is there, says what to do, and changes nothing", async () => {
    await stack.program(program({}));
    const first = await stack.up();
    expect(first.code, first.output).toBe(0);
    const before = await service.holdings();
    await stack.program(program({ isServerless: false }));
    const preview = await stack.preview();
    expect(preview.diagnostics.filter(({ about }) => about === "Template worker")).toMatchObject([
      {
        severity: "warning",
        message: expect.stringContaining("fails while an endpoint uses it: change its name, too"),
      },
    ]);
    const up = await stack.up();
    expect(up.code).not.toBe(0);
    const errors = up.diagnostics.filter(({ about, severity }) => about === "Template worker" && severity === "error");
    expect(errors.map(({ message }) => message).join("\n")).toMatch(
      /template "worker-dev-\w{7}" cannot be deleted: endpoint "api-dev-\w{7}" \(\w+\) still uses it .* needs another name, too/,
    );
    expect(await service.holdings()).toEqual(before);
  });

  it("under another name makes the new one, moves the endpoint over in place and deletes the old one", async () => {
    const before = await service.holdings();
    await stack.program(program({ isServerless: false, name: "worker-2" }));
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.diagnostics.filter(({ severity }) => severity === "warning")).toEqual([]);
    expect(up.operations).toEqual({
      "Template worker": ["create-replacement", "replace", "delete-replaced"],
      "ServerlessEndpoint api": ["update"],
    });
    const after = await service.holdings();
    expect(after.templates).toMatchObject([{ name: "worker-2", isServerless: false }]);
    expect(after.endpoints).toMatchObject([{ id: before.endpoints[0]?.id, templateId: after.templates[0]?.id }]);
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
    expect(await service.holdings()).toMatchObject({ endpoints: [], templates: [] });
  });
}

import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { dialect } from "../support/dialect";
import { type EngineService, type Held, image, useEngineService } from "../support/engine-service";
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

  /** Makes an endpoint by REST v1, which is bound to the template. */
  const bind = async (templateId: string | undefined): Promise<string> => {
    const body = { name: "by-hand", templateId, workersMax: 0 };
    return z.looseObject({ id: z.string() }).parse(await service.rest("POST", "/endpoints", body)).id;
  };
  /** The template that an endpoint is bound to, or whose copy it has. */
  async function templateOf(endpoint: Held | undefined): Promise<string> {
    const { templateId } = z.looseObject({ templateId: z.string() }).parse(endpoint);
    if (dialect === "v1") return templateId;
    const copy = z.looseObject({ env: z.record(z.string(), z.string()) });
    return (
      copy.parse(await service.rest("GET", `/templates/${templateId}`)).env["SERVERLESS_COMPUTE_TEMPLATE_ID"] ?? ""
    );
  }

  const program = (worker: object): string => `
  const { ServerlessEndpoint, Template } = require("${way.module}");
  const worker = new Template("worker", { name: "worker", imageName: "${image("echo")}", ...${JSON.stringify(worker)} });
  new ServerlessEndpoint("api", { templateId: worker.id, workersMax: 0 });
`;

  /** The user of the template: in REST v2 the stack's endpoint has a copy, and only an endpoint of REST v1 uses it. */
  const holder =
    dialect === "v1"
      ? {
          made: "an endpoint",
          failure:
            /template "worker" cannot be deleted: endpoint "api-dev-\w{7}" \(\w+\) still uses it .* needs another name, too/,
        }
      : {
          made: "an endpoint created by REST v1",
          failure:
            /template "worker" is still in use after 2 s: .*perhaps endpoint "by-hand" \(\w+\) with the same settings/,
        };

  it("under its name is warned of, fails while the endpoint is there, says what to do, and changes nothing", async () => {
    await stack.program(program({}));
    const first = await stack.up();
    expect(first.code, first.output).toBe(0);
    const byHand = dialect === "v2" ? await bind((await service.holdings()).templates[0]?.id) : undefined;
    const before = await service.holdings();
    await stack.program(program({ isServerless: false }));
    const preview = await stack.preview();
    expect(preview.diagnostics.filter(({ about }) => about === "Template worker")).toMatchObject([
      {
        severity: "warning",
        message: expect.stringContaining(`fails while ${holder.made} uses it; change or remove the name`),
      },
    ]);
    // With REST v2 nothing shows which endpoint holds the template, so the delete waits for its release.
    const up = await stack.up({ env: { SERVERLESS_COMPUTE_TEMPLATE_RELEASE_LIMIT: "2" } });
    expect(up.code).not.toBe(0);
    const errors = up.diagnostics.filter(({ about, severity }) => about === "Template worker" && severity === "error");
    expect(errors.map(({ message }) => message).join("\n")).toMatch(holder.failure);
    expect(await service.holdings()).toEqual(before);
    if (byHand) await service.rest("DELETE", `/endpoints/${byHand}`);
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
    expect(after.endpoints.map(({ id }) => id)).toEqual([before.endpoints[0]?.id]);
    expect(await templateOf(after.endpoints[0])).toBe(after.templates[0]?.id);
  });

  if (dialect === "v2")
    it("under its name is done by REST v2 while endpoints have copies of it", async () => {
      const before = await service.holdings();
      await stack.program(program({ name: "worker-2" }));
      const up = await stack.up();
      expect(up.code, up.output).toBe(0);
      expect(up.operations).toEqual({
        "Template worker": ["delete-replaced", "replace", "create-replacement"],
        "ServerlessEndpoint api": ["update"],
      });
      const after = await service.holdings();
      expect(after.endpoints.map(({ id }) => id)).toEqual([before.endpoints[0]?.id]);
      expect(after.templates[0]?.id).not.toBe(before.templates[0]?.id);
      expect(await templateOf(after.endpoints[0])).toBe(after.templates[0]?.id);
    });

  it("under a generated name creates the new one first", async () => {
    const before = await service.holdings();
    await stack.program(program({ name: undefined }).replace('name: "worker", ', ""));
    expect((await stack.up()).code).toBe(0);
    await stack.program(program({ isServerless: false }).replace('name: "worker", ', ""));
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.operations).toEqual({
      "Template worker": ["create-replacement", "replace", "delete-replaced"],
      "ServerlessEndpoint api": ["update"],
    });
    const after = await service.holdings();
    expect(after.endpoints.map(({ id }) => id)).toEqual([before.endpoints[0]?.id]);
    expect(await templateOf(after.endpoints[0])).toBe(after.templates[0]?.id);
  });

  it("leaves nothing when it is destroyed", async () => {
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
    expect(await service.holdings()).toMatchObject({ endpoints: [], templates: [] });
  });
}

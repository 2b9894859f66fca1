import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import { deployedInputs, previewPlan as planOf } from "../support/preview-plan";
import type { Stack } from "../support/pulumi";
import { dynamicWay } from "./way";

/** The steps of a preview, and the planned env of the template `watcher`. */
async function plan(stack: Stack): Promise<{ steps: Record<string, string>; env: unknown }> {
  const { steps, inputs } = await planOf(stack);
  return { steps, env: inputs["watcher"]?.["env"] };
}
/** The deployed env of the template `watcher`. */
const deployedEnv = async (stack: Stack): Promise<unknown> => (await deployedInputs(stack, "watcher"))?.["env"];

describe("outputs that the classes compute before the provider", () => {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    const { SERVERLESS_COMPUTE_SERVERLESS_URL: _own, ...environment } = service.environment;
    stack = await dynamicWay.createStack(environment);
  });
  afterAll(() => stack.remove());

  const program = (parts: { args?: object; idle?: number; options?: string } = {}): string => `
  const pulumi = require("@pulumi/pulumi");
  const { ServerlessEndpoint, Template } = require("${dynamicWay.module}");
  class Account extends pulumi.ProviderResource {
    constructor(name, settings) {
      // State stores the arguments of an explicit provider of dynamic resources unchanged.
      super("pulumi-nodejs", name, { ...settings, "serverless-compute:apiKey": pulumi.secret(settings["serverless-compute:apiKey"]) });
    }
  }
  class Group extends pulumi.ComponentResource {
    constructor(name, options) { super("shop:index:Group", name, {}, options); }
  }
  const worker = new Template("worker", { imageName: "${image("echo")}", ...${JSON.stringify(parts.args ?? {})} });
  const api = new ServerlessEndpoint("api", {
    templateId: worker.id, workersMax: 0, idleTimeout: ${parts.idle ?? 5},
  }, ${parts.options ?? "{}"});
  new Template("watcher", { imageName: "${image("echo")}", env: { URL: api.url, REVISION: worker.revision } });
`;

  it("a new revision is known in the preview and equals the deployed revision", async () => {
    await stack.command(["config", "set", "serverless-compute:serverlessUrl", `${service.proxy.origin}///`]);
    await stack.writeProgram(program());
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    await stack.writeProgram(program({ args: { env: { B: "b", A: "a" }, ports: "80/http, 22/tcp" } }));
    const { env } = await plan(stack);
    expect(env).toMatchObject({ REVISION: expect.stringMatching(/^[0-9a-f]{16}$/) });
    const changed = await stack.up();
    expect(changed.operations, changed.output).toMatchObject({
      "Template worker": ["update"],
      "Template watcher": ["update"],
    });
    expect(await deployedEnv(stack)).toEqual(env);
  });

  it("the address follows the stack's config, normalised as by the provider", async () => {
    await stack.writeProgram(program({ idle: 6 }));
    const { steps, env } = await plan(stack);
    expect(steps).toMatchObject({ api: "update" });
    expect(env).toMatchObject({ URL: expect.stringMatching(new RegExp(`^${service.proxy.origin}/v2/\\w+$`)) });
  });

  it("an unchanged endpoint keeps the address in state, regardless of the current config", async () => {
    const before = await deployedEnv(stack);
    await stack.command(["config", "set", "serverless-compute:serverlessUrl", "http://127.0.0.1:9"]);
    await stack.writeProgram(program({ idle: 6 }));
    const { steps, env } = await plan(stack);
    expect(steps).toMatchObject({ api: "update", watcher: "update" });
    expect(env).toMatchObject({ URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:9\/v2\/\w+$/) });
    await stack.writeProgram(program({ args: { env: { B: "b", A: "a" }, ports: "80/http, 22/tcp" } }));
    expect(await plan(stack)).toEqual({ steps: { worker: "same", api: "same", watcher: "same" }, env: before });
  });

  it("the address is unknown in the preview of an endpoint with an explicit provider, even an inherited provider", async () => {
    const settings = JSON.stringify({
      "serverless-compute:apiKey": service.service.apiKey,
      "serverless-compute:serverlessUrl": service.proxy.origin,
    });
    const account = `new Account("own", ${settings})`;
    for (const options of [`{ provider: ${account} }`, `{ parent: new Group("group", { providers: [${account}] }) }`]) {
      await stack.writeProgram(program({ options }));
      const up = await stack.up();
      expect(up.code, up.output).toBe(0);
      await stack.writeProgram(program({ options, idle: 7 }));
      // Unknown, because the program cannot read the other provider's address.
      expect((await plan(stack)).steps).toMatchObject({ api: "update", watcher: "update" });
      const changed = await stack.up();
      expect(changed.operations, changed.output).toMatchObject({ "Template watcher": ["same"] });
      expect(await deployedEnv(stack)).toMatchObject({
        URL: expect.stringMatching(new RegExp(`^${service.proxy.origin}/v2/\\w+$`)),
      });
    }
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
  });

  it("a rejected resource fails with its own message only", async () => {
    await stack.command(["config", "set", "serverless-compute:serverlessUrl", "not a URL"]);
    await stack.writeProgram(program({ args: { imageName: "" } }));
    const preview = await stack.preview();
    expect(preview.code).not.toBe(0);
    const errors = preview.diagnostics.filter(({ severity }) => severity === "error");
    expect(errors.map(({ resource }) => resource)).toEqual(["Template worker"]);
  });
});

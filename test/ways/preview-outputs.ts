import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { fingerprinted } from "../support/default-names";
import { quietChange } from "../support/dialect";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

const stateShape = z.looseObject({ inputs: z.looseObject({ env: z.unknown().optional() }).optional() });
const planShape = z.looseObject({
  steps: z.array(z.looseObject({ op: z.string(), urn: z.string(), newState: stateShape.optional() })),
});
const named = (urn: string, name: string): boolean => urn.endsWith(`::${name}`);

/** What a preview says it will do, by resource name, and the env that the template `watcher` will have. */
export async function plan(stack: Stack): Promise<{ steps: Record<string, string>; env: unknown }> {
  const { code, output } = await stack.command(["preview", "--json", "--show-sames"]);
  expect(code, output).toBe(0);
  const { steps } = planShape.parse(JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1)));
  const ours = steps.filter(({ urn }) => !/::pulumi:|shop:index:Group::/.test(urn));
  return {
    steps: Object.fromEntries(ours.map(({ op, urn }) => [urn.slice(urn.lastIndexOf("::") + 2), op])),
    env: steps.find(({ urn }) => named(urn, "watcher"))?.newState?.inputs?.env,
  };
}

/** The env of the template `watcher` as it is deployed. */
export async function deployedEnv(stack: Stack): Promise<unknown> {
  return (await stack.resources()).find(({ urn }) => named(urn, "watcher"))?.inputs?.["env"];
}

/** What a preview knows of outputs that a change does not touch, and of those it decides. */
export function previewOutputsThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
  });
  afterAll(() => stack.remove());

  type Part = "secret" | "template" | "endpoint";

  /** `watcher` depends on every output that the service or the provider makes up. */
  const program = (parts: Partial<Record<Part, object>> = {}): string => `
  const { Secret, ServerlessEndpoint, Template } = require("${way.module}");
  const parts = ${JSON.stringify(parts)};
  const token = new Secret("token", { value: "sesame", ...parts.secret });
  const worker = new Template("worker", {
    imageName: "${image("echo")}", env: { TOKEN: token.reference, B: "b", A: "a" }, ports: "80/http, 22/tcp", ...parts.template,
  });
  const api = new ServerlessEndpoint("api", { templateId: worker.id, workersMax: 0, ...parts.endpoint });
  new Template("watcher", {
    imageName: "${image("echo")}", env: { URL: api.url, REVISION: worker.revision, REFERENCE: token.reference },
  });
  exports.url = api.url;
  exports.revision = worker.revision;
  exports.reference = token.reference;
`;

  it("changes in place leave the address, the reference and the revision known, so that dependents stay as they are", async () => {
    await stack.program(program());
    const first = await stack.up();
    expect(first.code, first.output).toBe(0);
    const before = await deployedEnv(stack);
    expect(before).toMatchObject({
      URL: expect.stringMatching(new RegExp(`^${service.proxy.origin}/v2/\\w+$`)),
      REFERENCE: fingerprinted("{{ RUNPOD_SECRET_token-dev }}"),
    });
    await stack.program(program({ secret: { value: "open" }, template: quietChange, endpoint: { idleTimeout: 9 } }));
    const previewed = await plan(stack);
    expect(previewed.steps).toEqual({ token: "update", worker: "update", api: "update", watcher: "same" });
    expect(previewed.env).toEqual(before);
    // It lists the outputs of the stack that change, or that it does not know.
    expect((await stack.preview()).output).not.toContain("Outputs:");
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.operations).toMatchObject({ "Secret token": ["update"], "Template watcher": ["same"] });
    expect(await deployedEnv(stack)).toEqual(before);
  });

  it("a change that makes another revision reaches its dependents, as the deployment then does", async () => {
    await stack.program(program({ template: { dockerArgs: "--fast" } }));
    expect((await plan(stack)).steps).toMatchObject({ worker: "update", watcher: "update" });
    const up = await stack.up();
    expect(up.operations, up.output).toMatchObject({ "Template worker": ["update"], "Template watcher": ["update"] });
  });

  it("a replaced endpoint has another address", async () => {
    await stack.program(program({ template: { dockerArgs: "--fast" }, endpoint: { computeType: "CPU" } }));
    const before = await deployedEnv(stack);
    const previewed = await plan(stack);
    expect(previewed.steps).toMatchObject({ watcher: "update" });
    expect(previewed.env).not.toEqual(before);
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
  });
}

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { changeWithoutRevision } from "../support/dialect";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import { deployedInputs, previewPlan } from "../support/preview-plan";
import { createStack, type Stack } from "../support/pulumi";
import { pluginFolder } from "./support/way";
import { findYaml } from "./support/yaml";

const yaml = await findYaml();

describe.skipIf(yaml.missing !== undefined)("a preview of a program in YAML", () => {
  let service: EngineService;
  let stack: Stack;
  let credentials: string;
  beforeAll(async () => {
    service = await useEngineService();
    const response = await service.rest("POST", "/containerregistryauth", {
      name: "hub",
      username: "u",
      password: "pppp",
    });
    credentials = z.looseObject({ id: z.string() }).parse(response).id;
    stack = await createStack({ ...service.environment, PATH: yaml.path }, { plugin: pluginFolder(), runtime: "yaml" });
  });
  afterAll(() => stack.remove());

  const allRemoved = ["worker.containerRegistryAuthId", "worker.env", "worker.revision", "api.minCudaVersion"];

  /** `watcher` depends on outputs of the other resources, including optional outputs. */
  const program = (parts: { worker?: string[]; api?: string[]; env: string; requestsDuring?: string[] }): string => `
resources:
  worker:
    type: serverless-compute:Template
    properties:
      imageName: ${image("echo")}
      env: ${parts.env}
${(parts.worker ?? []).map((line) => `      ${line}\n`).join("")}
  api:
    type: serverless-compute:ServerlessEndpoint
    properties:
      templateId: \${worker.id}
      workersMax: 0
${(parts.api ?? []).map((line) => `      ${line}\n`).join("")}
  watcher:
    type: serverless-compute:Template
    properties:
      imageName: ${image("echo")}
      dockerArgs:
        fn::toJSON:
${(parts.requestsDuring ?? allRemoved).map((reference) => `          - \${${reference}}\n`).join("")}`;

  /** Previews, deploys, and compares the preview with the result. */
  async function deploy(text: string): Promise<{ steps: Record<string, string>; diagnostics: unknown }> {
    await stack.writeProgram(text);
    const { steps, inputs } = await previewPlan(stack);
    const args = inputs["watcher"]?.["dockerArgs"];
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    const operations = Object.entries(up.operations).map(([resource, [operation]]) => [
      resource.split(" ")[1],
      operation,
    ]);
    expect(steps).toEqual(Object.fromEntries(operations));
    expect(args).toBe((await deployedInputs(stack, "watcher"))?.["dockerArgs"]);
    return { steps, diagnostics: JSON.parse(String(args)) };
  }

  const revision = expect.stringMatching(/^[0-9a-f]{16}$/);

  it("of a create shows that an omitted optional input has no value", async () => {
    const { steps, diagnostics } = await deploy(program({ env: "{ A: '1', B: '2' }" }));
    expect(steps).toEqual({ worker: "create", api: "create", watcher: "create" });
    expect(diagnostics).toEqual([null, { A: "1", B: "2" }, revision, null]);
  });

  it("of an update shows added and removed optional inputs, also in maps", async () => {
    const worker = [`containerRegistryAuthId: ${credentials}`];
    const added = await deploy(
      program({ env: "{ A: '1', B: '2' }", worker, api: ["minCudaVersion: '12.4'", "executionTimeoutMs: 60000"] }),
    );
    expect(added.steps).toEqual({ worker: "update", api: "update", watcher: "update" });
    expect(added.diagnostics).toEqual([credentials, { A: "1", B: "2" }, revision, "12.4"]);

    await stack.writeProgram(program({ env: "{ A: '9' }" }));
    const output = await stack.preview({ args: ["--diff"] });
    expect(output.output).toMatch(/- containerRegistryAuthId: /);
    expect(output.output).toMatch(/- executionTimeoutMs\s*: 60000/);
    expect(output.output).toMatch(/- B: "2"/);
    // No input of the watcher is unknown.
    expect(output.output).not.toContain("[unknown]");
    const removed = await deploy(program({ env: "{ A: '9' }" }));
    expect(removed.steps).toEqual({ worker: "update", api: "update", watcher: "update" });
    expect(removed.diagnostics).toEqual([null, { A: "9" }, revision, null]);
  });

  it("of a change without effect on a dependent resource shows no change of that resource", async () => {
    const requestsDuring = ["worker.env", "worker.revision", "api.url"];
    await deploy(program({ env: "{ A: '9' }", requestsDuring }));
    expect((await previewPlan(stack)).steps).toEqual({ worker: "same", api: "same", watcher: "same" });
    const change = {
      worker: Object.entries(changeWithoutRevision).map(([key, value]) => `${key}: ${value}`),
      api: ["idleTimeout: 9"],
    };
    const { steps } = await deploy(program({ env: "{ A: '9' }", requestsDuring, ...change }));
    expect(steps).toEqual({ worker: "update", api: "update", watcher: "same" });
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
  });
});

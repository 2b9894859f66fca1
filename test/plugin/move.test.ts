import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { run } from "../../scripts/child.mjs";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import { createStack, type Stack } from "../support/pulumi";
import { pluginFolder, pluginWay } from "./support/way";

let service: EngineService;
let stack: Stack;
beforeAll(async () => {
  service = await useEngineService();
  // The program names the plugin from the start; dynamic resources ignore it.
  stack = await createStack(service.environment, { plugin: pluginFolder() });
});
afterAll(() => stack.remove());

const program = (module: string): string => `
  const pulumi = require("@pulumi/pulumi");
  const { JobInvoke, NetworkVolume, Secret, ServerlessEndpoint, Template } = require("${module}");
  class Worker extends pulumi.ComponentResource {
    constructor(name) {
      super("shop:index:Worker", name);
      this.token = new Secret("token", { value: "sesame-40d7" }, { parent: this });
      this.template = new Template("chat", { imageName: "${image("echo")}", env: { TOKEN: this.token.reference } }, { parent: this });
    }
  }
  const { template } = new Worker("worker");
  const volume = new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" });
  const endpoint = new ServerlessEndpoint("chat", { templateId: template.id, networkVolumeId: volume.id, workersMax: 1 }, { parent: template });
  new JobInvoke("smoke", { endpointId: endpoint.id, input: { a: 1 }, triggers: [template.revision] });
`;

it("a stack of dynamic resources moves to the plugin without changes and without requests", async () => {
  await stack.writeProgram(program("pulumi-serverless-compute"));
  await stack.up();
  const objectsBefore = await service.listObjects();
  service.proxy.clear();

  const [exported, moved] = [join(stack.folder, "exported.json"), join(stack.folder, "moved.json")];
  await stack.command(["stack", "export", "--file", exported]);
  const script = await run(join(pluginFolder(), "serverless-compute"), ["move"], {
    input: await readFile(exported, "utf8"),
  });
  expect(script).toMatchObject({ code: 0, stderr: "Resources moved to the plugin: 5.\n" });
  expect(script.stdout).not.toContain("sesame-40d7");
  await writeFile(moved, script.stdout);
  await stack.command(["stack", "import", "--file", moved]);

  await stack.writeProgram(program(pluginWay.module));
  const up = await stack.up();
  expect(new Set(Object.values(up.operations).flat())).toEqual(new Set(["same"]));
  expect(service.proxy.requests).toEqual([]);
  expect(await service.listObjects()).toEqual(objectsBefore);
});

it("moved resources can be destroyed", async () => {
  await stack.destroy();
  expect(await service.listObjects()).toEqual({ endpoints: [], volumes: [], templates: [], secrets: [] });
});

import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import { createStack, type Stack } from "../support/pulumi";

const host = inject("yamlHost");
const example = fileURLToPath(new URL("../../examples/yaml/Pulumi.yaml", import.meta.url));

describe.skipIf("reason" in host)("a program in YAML", () => {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    const { PATH = "" } = process.env;
    const path = "folder" in host ? `${host.folder}${delimiter}${PATH}` : PATH;
    // As the example has it: relative, seen from the program's folder below that of the installed packages.
    const plugin = join("..", "..", "..", "node_modules", "pulumi-serverless-compute", "bin");
    stack = await createStack({ ...service.environment, PATH: path }, { plugin, runtime: "yaml" });
  });
  afterAll(() => stack.remove());

  /** The example's program with a secret beside it; the project's name and where the plugin is are the test's. */
  const program = async (): Promise<string> => {
    const text = await readFile(example, "utf8");
    const token =
      "  token:\n    type: serverless-compute:Secret\n    properties:\n      value: { fn::secret: sesame-61b0 }\n";
    const [, rest = ""] = text.split("\nresources:\n");
    return `resources:\n${token}${rest}`.replace("acme/echo:1", image("echo"));
  };

  it("deploys the example and has its outputs", async () => {
    await stack.program(await program());
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.operations).toMatchObject({ "ServerlessEndpoint chat": ["create"], "JobInvoke answers": ["create"] });
    const { output } = await stack.command(["stack", "output", "--json"]);
    const [endpoint] = (await service.holdings()).endpoints;
    expect(JSON.parse(output)).toMatchObject({ url: `${service.proxy.origin}/v2/${endpoint?.id}` });
    for (const [path, text] of await stack.files()) {
      if (path.endsWith("Pulumi.yaml")) continue;
      const shown = text.split("\n").filter((line) => !line.includes('"severity":"debug"'));
      expect(
        shown.filter((line) => line.includes("sesame-61b0")),
        path,
      ).toEqual([]);
    }
  });

  it("asks the service nothing when nothing changed", async () => {
    service.proxy.clear();
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(Object.values(up.operations).flat()).toEqual(expect.not.arrayContaining(["update", "create", "replace"]));
    expect(service.proxy.requests).toEqual([]);
  });

  it("previews a nested change, and refuses bad input before anything is asked", async () => {
    await stack.program((await program()).replace("MODEL: small", "MODEL: large"));
    const preview = await stack.preview({ args: ["--diff"] });
    expect(preview.code, preview.output).toBe(0);
    expect(preview.output).toMatch(/~ env *: \{\s+~ MODEL *: "small" => "large"\s+\}/);
    service.proxy.clear();
    await stack.program((await program()).replace("workersMax: 1", "workersMax: -1"));
    const refused = await stack.preview();
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain("workersMax: is -1");
    expect(service.proxy.requests).toEqual([]);
  });

  it("leaves nothing behind", async () => {
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
    expect(await service.holdings()).toEqual({ endpoints: [], volumes: [], templates: [], secrets: [] });
  });
});

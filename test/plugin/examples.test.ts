import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EngineService, useEngineService } from "../support/engine-service";
import { exampleTexts } from "../support/example-texts";
import { createStack, type Stack } from "../support/pulumi";
import { pluginFolder } from "./support/door";
import { findYaml } from "./support/yaml";

const yaml = await findYaml();
const path = (relative: string): string => fileURLToPath(new URL(`../${relative}`, import.meta.url));
const schema = JSON.parse(readFileSync(path("../schema.json"), "utf8"));
const examples = exampleTexts(schema).filter(({ language }) => language === "yaml");

/**
 * An example that reads its secret from the program instead of the stack's config: the host that builds from published
 * modules does not hand a later engine's config to the program.
 */
const withoutConfig = (text: string): string =>
  text.replace(/^config:\n {2}(\w+):\n(?: {4}.+\n)+/, "variables:\n  $1:\n    fn::secret: sesame-61b0\n");

/** The example's outputs, by name. */
const outputsOf = (text: string): string[] =>
  (text.split("\noutputs:\n")[1] ?? "").split("\n").flatMap((line) => /^ {2}(\w+):/.exec(line)?.[1] ?? []);

describe.skipIf(yaml.missing !== undefined)("the examples of the schema in YAML deploy as they are", () => {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    const echo = path("conformance/handlers/echo.mjs");
    const images = { "ghcr.io/acme/chat:1.4.2": echo, "ghcr.io/acme/private:2.0.0": echo };
    service = await useEngineService({ images });
    stack = await createStack({ ...service.environment, PATH: yaml.path }, { plugin: pluginFolder(), runtime: "yaml" });
    await makeObjects();
  });
  afterAll(() => stack.remove());

  /** What the examples look up. */
  const makeObjects = async (): Promise<void> => {
    const template = { name: "chat-prod", imageName: "ghcr.io/acme/chat:1.4.2", isServerless: true };
    const made = await service.rest("POST", "/templates", template);
    const { id } = Object(made);
    await service.rest("POST", "/endpoints", { name: "chat-prod", templateId: id, workersMax: 1 });
    await service.rest("POST", "/networkvolumes", { name: "models-prod", size: 10, dataCenterId: "EU-RO-1" });
    await service.graphql('mutation { secretCreate(input: { name: "hub-token", value: "sesame-61b0" }) { id } }');
  };

  it.each(examples.map((one) => [`${one.token.replace(/.*:/, "")}: ${one.title}`, one] as const))(
    "%s",
    async (_, { text }) => {
      await stack.program(`${withoutConfig(text)}\n`);
      const up = await stack.up();
      expect(up.code, up.output).toBe(0);
      const { output } = await stack.command(["stack", "output", "--json"]);
      expect(Object.keys(JSON.parse(output))).toEqual(outputsOf(text));
    },
  );

  it("also under a provider of their own, whose limits are numbers", async () => {
    const provider = [
      "east:",
      "  type: pulumi:providers:serverless-compute",
      "  properties: { callLimit: 60.5, maxInFlight: 4 }",
    ];
    const models = [
      "models:",
      "  type: serverless-compute:NetworkVolume",
      "  properties: { size: 10, dataCenterId: EU-RO-1 }",
    ];
    const options = `  options: { provider: "\${east}" }`;
    const program = ["resources:", ...[...provider, ...models, options].map((line) => `  ${line}`), ""].join("\n");
    await stack.program(program);
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.operations).toMatchObject({ "NetworkVolume models": ["create"] });
    await stack.program(program.replace("maxInFlight: 4", "maxInFlight: 0.5"));
    const refused = await stack.preview();
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain(
      'maxInFlight (or SERVERLESS_COMPUTE_MAX_IN_FLIGHT) is "0.5": must be a whole number',
    );
    await stack.program(program);
  });

  it("and leave nothing behind", async () => {
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
    expect((await service.holdings()).templates).toMatchObject([{ name: "chat-prod" }]);
  });
});

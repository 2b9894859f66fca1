import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dialect } from "../support/dialect";
import { type EngineService, useCrowdedService } from "../support/engine-service";
import { exampleTexts } from "../support/example-texts";
import { createStack, type Stack } from "../support/pulumi";
import { handlerFile } from "../support/target";
import { pluginFolder } from "./support/way";
import { findYaml } from "./support/yaml";

const yaml = await findYaml();
const path = (relative: string): string => fileURLToPath(new URL(`../${relative}`, import.meta.url));
const schema = JSON.parse(readFileSync(path("../schema.json"), "utf8"));
const examples = exampleTexts(schema).filter(({ language }) => language === "yaml");

/** Secrets of the stack's config that the examples read, set by `pulumi config set --secret`. */
const configSecrets = examples.flatMap(({ text }) =>
  [...text.matchAll(/^ {2}(\w+):\n {4}type: string\n {4}secret: true$/gm)].map(([, key = ""]) => key),
);

/** The example's outputs, by name. */
const outputsOf = (text: string): string[] =>
  (text.split("\noutputs:\n")[1] ?? "").split("\n").flatMap((line) => /^ {2}(\w+):/.exec(line)?.[1] ?? []);

describe.skipIf(yaml.missing !== undefined)(
  "the schema's examples in YAML: each deploys, and a preview and a refresh find no changes",
  () => {
    let service: EngineService;
    let stack: Stack;
    beforeAll(async () => {
      const echo = handlerFile("echo");
      const images = { "ghcr.io/acme/chat:1.4.2": echo, "ghcr.io/acme/private:2.0.0": echo };
      service = await useCrowdedService({ images });
      stack = await createStack(
        { ...service.environment, PATH: yaml.path },
        { plugin: pluginFolder(), runtime: "yaml" },
      );
      await createObjects();
      for (const key of configSecrets) {
        await stack.command(["config", "set", "--secret", key, "sesame-61b0"]);
      }
    });

    it("exist, and two of them read a secret from the stack's config", () => {
      expect(examples.length).toBeGreaterThan(10);
      expect(configSecrets).toHaveLength(2);
    });
    afterAll(async () => {
      await stack.remove();
      if (dialect === "v2") expect(service.retiredRequests()).toEqual([]);
    });

    /** Creates the objects that the examples look up. */
    const createObjects = async (): Promise<void> => {
      const template = { name: "chat-prod", imageName: "ghcr.io/acme/chat:1.4.2", isServerless: true };
      const ids = await service.rest("POST", "/templates", template);
      const { id } = Object(ids);
      await service.rest("POST", "/endpoints", { name: "chat-prod", templateId: id, workersMax: 1 });
      await service.rest("POST", "/networkvolumes", { name: "models-prod", size: 10, dataCenterId: "EU-RO-1" });
      const credentials = { name: "acme-registry", username: "acme-bot", password: "sesame-61b0" };
      await service.rest("POST", "/containerregistryauth", credentials);
      await service.graphql('mutation { secretCreate(input: { name: "hub-token", value: "sesame-61b0" }) { id } }');
    };

    it.each(examples.map((example) => [`${example.token.replace(/.*:/, "")}: ${example.title}`, example] as const))(
      "%s",
      async (_, { text, title }) => {
        await stack.writeProgram(`${text}\n`);
        if (dialect === "v1" && title.includes("with REST v2")) {
          const { output } = await stack.preview({ end: "failure" });
          expect(output).toContain("is required with REST v1; create a Template with the image");
          return;
        }
        const up = await stack.up();
        await stack.preview({ args: ["--expect-no-changes"] });
        await stack.refresh({ args: ["--expect-no-changes"] });
        const { output } = await stack.command(["stack", "output", "--json"]);
        const outputs = JSON.parse(output);
        expect(Object.keys(outputs)).toEqual(outputsOf(text));
        for (const [name, value] of Object.entries(outputs)) expect(value, name).not.toBeNull();
        const ids = [...text.matchAll(/^ {2}(\w+):\n {4}type: serverless-compute:(\w+)$/gm)];
        expect(Object.keys(up.operations)).toEqual(
          expect.arrayContaining(ids.map(([, name, kind]) => `${kind} ${name}`)),
        );
      },
    );

    it("deploy under an explicit provider with numeric limits", async () => {
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
      await stack.writeProgram(program);
      const up = await stack.up();
      expect(up.operations).toMatchObject({ "NetworkVolume models": ["create"] });
      await stack.writeProgram(program.replace("maxInFlight: 4", "maxInFlight: 0.5"));
      const rejected = await stack.preview({ end: "failure" });
      expect(rejected.output).toContain('the provider\'s argument maxInFlight is "0.5"; must be a whole number');
      await stack.writeProgram(program);
    });

    it("are destroyed completely", async () => {
      await stack.destroy();
      // Only the objects created for the lookups remain.
      expect(await service.listObjects()).toMatchObject({
        templates: [{ name: "chat-prod" }],
        endpoints: [{ name: "chat-prod" }],
        volumes: [{ name: "models-prod" }],
        secrets: [{ name: "hub-token" }],
      });
    });
  },
);

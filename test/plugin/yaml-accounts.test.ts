import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withFingerprints } from "../support/default-names";
import { type EngineService, useEngineService } from "../support/engine-service";
import { createStack, type Stack, withoutDebugMessages } from "../support/pulumi";
import { findYaml } from "./support/yaml";

const yaml = await findYaml();

describe.skipIf(yaml.missing !== undefined)("two accounts in one program in YAML", () => {
  let east: EngineService;
  let west: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    east = await useEngineService();
    west = await useEngineService();
    const plugin = join("..", "..", "..", "node_modules", "pulumi-serverless-compute", "bin");
    stack = await createStack({ PATH: yaml.path }, { plugin, runtime: "yaml" });
  });
  afterAll(() => stack.remove());

  const account = (name: string, { environment }: EngineService): string => `
  ${name}:
    type: pulumi:providers:serverless-compute
    properties:
      apiKey: "\${${name}Key}"
      baseUrl: ${environment["SERVERLESS_COMPUTE_BASE_URL"]}
      graphqlUrl: ${environment["SERVERLESS_COMPUTE_GRAPHQL_URL"]}
      serverlessUrl: ${environment["SERVERLESS_COMPUTE_SERVERLESS_URL"]}
  ${name}Models:
    type: serverless-compute:NetworkVolume
    properties: { size: 10, dataCenterId: EU-RO-1 }
    options: { provider: "\${${name}}" }`;

  it("creates each resource in its provider's account, with the keys encrypted in state", async () => {
    for (const [key, { service }] of Object.entries({ eastKey: east, westKey: west })) {
      await stack.command(["config", "set", "--secret", key, service.apiKey]);
    }
    const keys = ["eastKey", "westKey"].map((key) => `  ${key}: { type: string, secret: true }\n`).join("");
    await stack.writeProgram(`config:\n${keys}resources:${account("east", east)}${account("west", west)}\n`);
    await stack.up();
    expect(await east.listObjects()).toMatchObject({ volumes: [{ name: withFingerprints("eastModels-dev") }] });
    expect(await west.listObjects()).toMatchObject({ volumes: [{ name: withFingerprints("westModels-dev") }] });
    for (const [path, text] of await stack.files()) {
      const lines = withoutDebugMessages(text).split("\n");
      for (const { service } of [east, west]) {
        expect(
          lines.filter((line) => line.includes(service.apiKey)),
          path,
        ).toEqual([]);
      }
    }
  });

  it("changes nothing on the second deployment, and destroys each resource in its account", async () => {
    for (const { proxy } of [east, west]) proxy.clear();
    await stack.up();
    expect([...east.proxy.requests, ...west.proxy.requests]).toEqual([]);
    await stack.destroy();
    for (const { listObjects } of [east, west]) expect(await listObjects()).toMatchObject({ volumes: [] });
  });
});

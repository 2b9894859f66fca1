import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { run } from "../../scripts/child.mjs";
import { fingerprinted } from "../support/default-names";
import { type EngineService, useEngineService } from "../support/engine-service";
import { createStack, type Stack } from "../support/pulumi";
import { pluginFolder, pluginWay } from "./support/way";

/** The account of the environment, and the one of an explicit provider. */
let east: EngineService;
let west: EngineService;
let stack: Stack;
beforeAll(async () => {
  east = await useEngineService();
  west = await useEngineService();
  stack = await createStack(east.environment, { plugin: pluginFolder() });
});
afterAll(() => stack.remove());

/** The western account's settings; `prefix` is what each name begins with. */
const settings = (prefix: string): string => {
  const { SERVERLESS_COMPUTE_BASE_URL, SERVERLESS_COMPUTE_GRAPHQL_URL, SERVERLESS_COMPUTE_SERVERLESS_URL } =
    west.environment;
  const plain = {
    baseUrl: SERVERLESS_COMPUTE_BASE_URL,
    graphqlUrl: SERVERLESS_COMPUTE_GRAPHQL_URL,
    serverlessUrl: SERVERLESS_COMPUTE_SERVERLESS_URL,
  };
  const named = Object.entries(plain).map(([name, value]) => `"${prefix}${name}": "${value}"`);
  return `{ "${prefix}apiKey": pulumi.secret("${west.service.apiKey}"), ${named.join(", ")} }`;
};

const program = (module: string, provider: string): string => `
  const pulumi = require("@pulumi/pulumi");
  const { NetworkVolume, Provider, Secret, Template } = require("${module}");
  const west = ${provider};
  new Template("chat", { imageName: "acme/chat:1" });
  new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" }, { provider: west });
  new Secret("token", { value: "sesame-52aa" }, { provider: west });
`;

it("dynamic resources of an explicit provider are made in its account", async () => {
  const provider = `new pulumi.ProviderResource("pulumi-nodejs", "west", ${settings("serverless-compute:")})`;
  await stack.program(program("pulumi-serverless-compute", provider));
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(await east.holdings()).toMatchObject({
    templates: [{ name: fingerprinted("chat-dev") }],
    volumes: [],
    secrets: [],
  });
  expect(await west.holdings()).toMatchObject({
    templates: [],
    volumes: [{ name: fingerprinted("models-dev") }],
    secrets: [{ name: fingerprinted("token-dev") }],
  });
});

it("they move to a provider of the plugin with the same name and settings, and nothing changes", async () => {
  for (const { proxy } of [east, west]) proxy.clear();
  const [exported, moved] = [join(stack.folder, "exported.json"), join(stack.folder, "moved.json")];
  expect((await stack.command(["stack", "export", "--file", exported])).code).toBe(0);
  const script = await run(join(pluginFolder(), "serverless-compute"), ["move"], {
    input: await readFile(exported, "utf8"),
  });
  expect(script).toMatchObject({ code: 0, stderr: "3 resources now belong to the plugin.\n" });
  for (const secret of ["sesame-52aa", west.service.apiKey]) expect(script.stdout).not.toContain(secret);
  await writeFile(moved, script.stdout);
  const imported = await stack.command(["stack", "import", "--file", moved]);
  expect(imported.code, imported.output).toBe(0);

  await stack.program(program(pluginWay.module, `new Provider("west", ${settings("")})`));
  const preview = await stack.preview({ args: ["--expect-no-changes"] });
  expect(preview.code, preview.output).toBe(0);
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(new Set(Object.values(up.operations).flat())).toEqual(new Set(["same"]));
  expect([...east.proxy.requests, ...west.proxy.requests]).toEqual([]);
});

it("refreshes and destroys each in its own account", async () => {
  const refresh = await stack.refresh();
  expect(refresh.code, refresh.output).toBe(0);
  const destroy = await stack.destroy();
  expect(destroy.code, destroy.output).toBe(0);
  for (const account of [east, west]) {
    expect(await account.holdings()).toEqual({ endpoints: [], volumes: [], templates: [], secrets: [] });
  }
});

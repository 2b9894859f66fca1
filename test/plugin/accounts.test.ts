import { afterAll, beforeAll, expect, it } from "vitest";
import { fingerprinted } from "../support/default-names";
import { restPaths } from "../support/dialect";
import { type EngineService, useEngineService } from "../support/engine-service";
import { type Stack, shown } from "../support/pulumi";
import { pluginWay } from "./support/way";

/** Two accounts, each a service of its own. */
let east: EngineService;
let west: EngineService;
let stack: Stack;
beforeAll(async () => {
  east = await useEngineService();
  west = await useEngineService();
  stack = await pluginWay.createStack({});
});
afterAll(() => stack.remove());

/** A provider's arguments; the key may be any one that the service takes. */
const account = ({ service, proxy }: EngineService, apiKey = service.apiKey) => ({
  apiKey,
  baseUrl: `${proxy.origin}${restPaths.root}`,
  graphqlUrl: service.graphqlUrl.replace(service.serverlessUrl, proxy.origin),
  serverlessUrl: proxy.origin,
});

const program = (eastern: object, western: object): string => `
  const { getTemplate, NetworkVolume, Provider, Template } = require("${pluginWay.module}");
  const east = new Provider("east", ${JSON.stringify(eastern)});
  const west = new Provider("west", ${JSON.stringify(western)});
  for (const [name, provider] of Object.entries({ east, west })) {
    new Template(name, { imageName: "acme/" + name + ":1" }, { provider });
  }
  new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" }, { provider: west });
`;

it("deploys to two accounts in one program", async () => {
  await stack.program(program(account(east), account(west)));
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(await east.holdings()).toMatchObject({ templates: [{ name: fingerprinted("east-dev") }], volumes: [] });
  expect(await west.holdings()).toMatchObject({
    templates: [{ name: fingerprinted("west-dev") }],
    volumes: [{ name: fingerprinted("models-dev") }],
  });
});

it("keeps the keys encrypted in state", async () => {
  for (const [path, text] of await stack.files()) {
    if (path.endsWith("index.js")) continue;
    const lines = shown(text).split("\n");
    for (const { service } of [east, west])
      expect(
        lines.filter((line) => line.includes(service.apiKey)),
        path,
      ).toEqual([]);
  }
});

it("replaces nothing for another key, and uses it", async () => {
  await stack.program(program(account(east, "another-key-0000"), account(west)));
  for (const { proxy } of [east, west]) proxy.clear();
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(up.operations).toMatchObject({
    "Template east": ["same"],
    "Template west": ["same"],
    "NetworkVolume models": ["same"],
  });
  expect([...east.proxy.requests, ...west.proxy.requests]).toEqual([]);
  const refused = await stack.refresh();
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain(`${east.proxy.origin} refused the API key`);
  expect(refused.output).not.toContain("another-key-0000");
  await stack.program(program(account(east), account(west)));
  expect((await stack.up()).code).toBe(0);
});

it("destroys each with its own key", async () => {
  const destroy = await stack.destroy();
  expect(destroy.code, destroy.output).toBe(0);
  expect(await east.holdings()).toMatchObject({ templates: [] });
  expect(await west.holdings()).toMatchObject({ templates: [], volumes: [] });
});

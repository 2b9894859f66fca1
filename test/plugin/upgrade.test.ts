import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClients, systemClock } from "serverless-compute-api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { isSecret, propertiesFromWire } from "../../provider/protocol/values";
import { kinds } from "../../provider/resources";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { quietContext } from "../support/quiet-context";
import { pluginWay } from "./support/way";

/**
 * State of version 0.1.0: `state.json` is the `pulumi stack export` of program.cjs (source positions removed, secrets
 * encrypted under the passphrase of the tests). All secrets in it are throw-aways; the service listened on port 59999.
 */
const fixture = fileURLToPath(new URL("../fixtures/plugin-0.1.0", import.meta.url));
const inputsShape = z.record(z.string(), z.unknown());
const stateShape = z.looseObject({
  deployment: z.looseObject({
    resources: z.array(
      z.looseObject({ urn: z.string(), type: z.string(), id: z.string().optional(), inputs: inputsShape.optional() }),
    ),
  }),
});
type Resources = z.output<typeof stateShape>["deployment"]["resources"];
const ownResources = (state: string): Resources =>
  stateShape
    .parse(JSON.parse(state))
    .deployment.resources.filter(({ type }) => type.startsWith("serverless-compute:index:"));

/** A value without the ciphertext of secrets; only the variable RAW of a template requires its plain value. */
const plain = (value: unknown, name = ""): unknown => {
  if (isSecret(value)) return name === "RAW" ? "test-raw-value" : `test-${name}-of-the-fixture`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, key)]));
};

/** Creates the objects of a state, in its order, and returns the state with their ids. */
async function created(state: string, { service, proxy }: EngineService): Promise<string> {
  const { apiKey, graphqlUrl, serverlessUrl } = service;
  const clients = createClients({ apiKey, dialect: "v1", baseUrl: `${serverlessUrl}/v1`, graphqlUrl, serverlessUrl });
  const context = quietContext({ clients, clock: systemClock });
  let text = state.replaceAll("http://127.0.0.1:59999", proxy.origin);
  for (const index of ownResources(state).keys()) {
    const { type, id = "", inputs } = ownResources(text)[index] ?? {};
    const lifecycle = Object.values(kinds).find(({ kind }) => type?.endsWith(`:${kind}`) && kind !== "JobInvoke");
    if (!lifecycle) continue;
    const properties = propertiesFromWire(inputsShape.parse(plain(inputs)));
    const recorded = await lifecycle.create(properties, context);
    text = text.replaceAll(id, recorded.id);
  }
  await clients.close();
  return text;
}

let service: EngineService;
let stack: Stack;
let ownResourceList: Resources;
beforeAll(async () => {
  service = await useEngineService();
  stack = await pluginWay.createStack(service.environment);
  const program = JSON.stringify(join(fixture, "program.cjs"));
  await stack.writeProgram(`module.exports = require(${program})(require(${JSON.stringify(pluginWay.module)}));`);
  const state = await created(await readFile(join(fixture, "state.json"), "utf8"), service);
  const file = join(stack.folder, "state.json");
  await writeFile(file, state);
  await stack.command(["stack", "import", "--file", file]);
  ownResourceList = ownResources(state);
});
afterAll(() => stack.remove());

const nameOf = (urn: string): string => urn.split("::").slice(-2).join(" ").replace(/^.*:/, "");
const forEveryResource = (operation: string) =>
  Object.fromEntries(ownResourceList.map(({ urn }) => [nameOf(urn), [operation]]));

it("the fixture contains every kind", () => {
  const kinds = new Set(ownResourceList.map(({ type }) => type.slice(type.lastIndexOf(":") + 1)));
  expect([...kinds].sort()).toEqual([
    "ContainerRegistryAuth",
    "JobInvoke",
    "NetworkVolume",
    "Secret",
    "ServerlessEndpoint",
    "Template",
  ]);
});

it("a deployment on a state of 0.1.0 changes nothing and sends no request", async () => {
  service.proxy.clear();
  const run = await stack.up();
  expect(run.operations).toMatchObject(forEveryResource("same"));
  expect(service.proxy.requests).toEqual([]);
});

if (process.env["FULL"]) {
  it("a refresh finds no drift", async () => {
    const refresh = await stack.refresh();
    expect(refresh.operations).toMatchObject(forEveryResource("same"));
    const idsOf = (resources: { urn: string; id?: string | undefined }[]) =>
      Object.fromEntries(resources.map(({ urn, id }) => [urn, id]));
    expect(idsOf(await stack.resources())).toEqual(idsOf(ownResourceList));
  });

  it("objects of version 0.1.0 are updated in place", async () => {
    const program = await readFile(join(fixture, "program.cjs"), "utf8");
    const changedProgram = program.replace('"small"', '"large"').replace("size: 10,", "size: 15,");
    const module = JSON.stringify(pluginWay.module);
    await stack.writeProgram(`${changedProgram}\nmodule.exports = module.exports(require(${module}));`);
    const up = await stack.up();
    expect(up.operations).toMatchObject({
      ...forEveryResource("same"),
      "Template chat": ["update"],
      "NetworkVolume models": ["update"],
      // Its trigger is the template's revision.
      "JobInvoke answers": ["update"],
    });
    expect(await service.listObjects()).toMatchObject({
      volumes: expect.arrayContaining([expect.objectContaining({ name: "models-dev", size: 15 })]),
    });
  });

  it("objects of version 0.1.0 are destroyed", async () => {
    await stack.destroy();
    expect(await service.listObjects()).toEqual({ endpoints: [], volumes: [], templates: [], secrets: [] });
  });
}

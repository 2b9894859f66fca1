import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { functions } from "../../../../provider/functions/functions";
import type { LookUp } from "../../../../provider/functions/lookup";
import * as front from "../../../../provider/functions/program-calls";
import { useLifecycleBench } from "../../../support/lifecycle-bench";

const bench = await useLifecycleBench();

const templateId = await bench.create("/templates", {
  name: "chat",
  imageName: "a:1",
  isServerless: true,
  env: { A: "1" },
});
const endpointId = await bench.create("/endpoints", { name: "chat", templateId, workersMax: 0 });
const volumeId = await bench.create("/networkvolumes", { name: "models", size: 10, dataCenterId: "EU-RO-1" });
const authId = await bench.create("/containerregistryauth", {
  name: "registry",
  username: "robot",
  password: "s3cr3t",
});
await bench.graphql('mutation { secretCreate(input: { name: "token", value: "s3cr3t" }) { id } }');

const schema = JSON.parse(readFileSync(new URL("../../../../schema.json", import.meta.url), "utf8"));
let count = 0;

describe("an existing object is found by its id and by its name", () => {
  test("a template, with its revision", async () => {
    for (const which of [{ id: templateId }, { name: "chat" }]) {
      expect(await functions.getTemplate.run(which, bench.context())).toMatchObject({
        id: templateId,
        name: "chat",
        imageName: "a:1",
        env: { A: "1" },
        revision: expect.stringMatching(/^[0-9a-f]{16}$/),
      });
    }
  });

  test("an endpoint, with the root of its job API, whose health is readable", async () => {
    for (const which of [{ id: endpointId }, { name: "chat" }]) {
      const url = `${bench.proxy.origin}/v2/${endpointId}`;
      expect(await functions.getServerlessEndpoint.run(which, bench.context())).toMatchObject({
        id: endpointId,
        templateId,
        url,
      });
    }
    expect((await functions.getEndpointHealth.run({ endpointId }, bench.context())).jobs).toMatchObject({
      inQueue: 0,
      completed: 0,
    });
  });

  test("an endpoint whose name has the service's suffix, unless another one has exactly this name", async () => {
    const fastId = await bench.create("/endpoints", { name: "voice -fb", templateId, workersMax: 0 });
    const find = (name: string) => functions.getServerlessEndpoint.run({ name }, bench.context());
    expect(await find("voice")).toMatchObject({ id: fastId, name: "voice -fb" });
    const plainId = await bench.create("/endpoints", { name: "voice", templateId, workersMax: 0 });
    expect(await find("voice")).toMatchObject({ id: plainId });
    expect(await find("voice -fb")).toMatchObject({ id: fastId });
  });

  test.each([
    ["a start command as text", { dockerArgs: "serve --fast" }],
    ["start lists", { dockerArgs: '{"entrypoint":["sh"],"cmd":["serve"]}' }],
    ["no start command", {}],
  ])("with every required output of its schema: a container with %s", async (_, start) => {
    const name = `complete-${count++}`;
    const body = { name, imageName: "a:1", isServerless: true, ...start };
    const template = { id: await bench.create("/templates", body) };
    const endpoint = { id: await bench.create("/endpoints", { name, templateId: template.id, workersMax: 0 }) };
    const results = {
      getTemplate: await functions.getTemplate.run(template, bench.context()),
      getServerlessEndpoint: await functions.getServerlessEndpoint.run(endpoint, bench.context()),
    };
    for (const [key, result] of Object.entries(results)) {
      const { required } = schema.functions[`serverless-compute:index:${key}`].outputs;
      expect(required.filter((output: string) => Reflect.get(result, output) === undefined)).toEqual([]);
    }
  });

  test("a network volume", async () => {
    for (const which of [{ id: volumeId }, { name: "models" }])
      expect(await functions.getNetworkVolume.run(which, bench.context())).toMatchObject({ id: volumeId, size: 10 });
  });

  test.each(["v1", "v2"] as const)(
    "registry credentials, without user name and password, in dialect %s",
    async (dialect) => {
      for (const which of [{ id: authId }, { name: "registry" }])
        expect(await functions.getContainerRegistryAuth.run(which, bench.context({}, dialect))).toEqual({
          id: authId,
          name: "registry",
        });
      expect(Object.keys(functions.getContainerRegistryAuth.outputs().shape)).toEqual(["id", "name"]);
    },
  );

  test("a secret, with its reference and never its value", async () => {
    const found = await functions.getSecret.run({ name: "token" }, bench.context());
    expect(found).toMatchObject({ name: "token", reference: "{{ RUNPOD_SECRET_token }}" });
    expect(JSON.stringify(await functions.getSecret.run({ id: found.id }, bench.context()))).not.toContain("s3cr3t");
  });
});

describe("a lookup without a result names its key", () => {
  const kinds: [string, (which: LookUp) => Promise<unknown>][] = [
    ["Template", (which) => functions.getTemplate.run(which, bench.context())],
    ["ServerlessEndpoint", (which) => functions.getServerlessEndpoint.run(which, bench.context())],
    ["NetworkVolume", (which) => functions.getNetworkVolume.run(which, bench.context())],
    ["ContainerRegistryAuth", (which) => functions.getContainerRegistryAuth.run(which, bench.context())],
    ["Secret", (which) => functions.getSecret.run(which, bench.context())],
  ];
  test.each(kinds)("%s", async (kind, get) => {
    await expect(get({ name: "nobody" })).rejects.toThrow(
      `${kind} "nobody" does not exist: no object in the account has this name`,
    );
    await expect(get({ id: "aaaaaaaaa1" })).rejects.toThrow(
      `${kind} "aaaaaaaaa1" does not exist: no object in the account has this id`,
    );
    await expect(get({ id: "" })).rejects.toThrow(`a lookup of a ${kind} requires an id or a name, and not both`);
  });

  test("an ambiguous name is rejected with the ids of its objects", async () => {
    const ids = [1, 2].map(() => bench.create("/networkvolumes", { name: "twins", size: 1, dataCenterId: "EU-RO-1" }));
    const message = `NetworkVolume "twins" is ambiguous: several objects have this name (${(await Promise.all(ids)).sort().join(", ")})`;
    const failure: unknown = await functions.getNetworkVolume
      .run({ name: "twins" }, bench.context())
      .catch((error: unknown) => error);
    expect(
      String(failure).replace(/\((.*)\)/, (_, list: string) => `(${list.split(", ").sort().join(", ")})`),
    ).toContain(message);
  });

  test("the health of an unknown endpoint", async () => {
    await expect(functions.getEndpointHealth.run({ endpointId: "nosuch" }, bench.context())).rejects.toThrow(
      'endpoint "nosuch" is unknown to the service',
    );
  });
});

test.each([
  ["v1", "image", /^\/graphql$/],
  ["v2", "version", /\/releases$/],
] as const)(
  "in dialect %s, a failed request for the %s names the endpoint and the remedy",
  async (dialect, _, path) => {
    bench.proxy.inject({ path }, { kind: "status", status: 403 });
    await expect(functions.getServerlessEndpoint.run({ name: "chat" }, bench.context({}, dialect))).rejects.toThrow(
      /^ServerlessEndpoint "chat": the API key is valid but lacks a permission: /,
    );
  },
);

test("the package exports the lookups for programs and scripts", async () => {
  const settings = { clients: bench.addresses };
  expect(await front.getTemplate({ name: "chat" }, { settings })).toMatchObject({ id: templateId });
  expect(await front.getServerlessEndpoint({ name: "chat" }, { settings })).toMatchObject({ id: endpointId });
  expect(await front.getNetworkVolume({ id: volumeId }, { settings })).toMatchObject({ id: volumeId });
  expect(await front.getContainerRegistryAuth({ name: "registry" }, { settings })).toMatchObject({ id: authId });
  expect(await front.getSecret({ name: "token" }, { settings })).toMatchObject({ name: "token" });
  expect(await front.getEndpointHealth(endpointId, { settings })).toMatchObject({ jobs: { inQueue: 0 } });
});

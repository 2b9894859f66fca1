import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { dialect } from "../support/dialect";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { pluginFolder, pluginWay } from "./support/way";

/** Secret values of the imported objects, which must never be shown. A variable may be one. */
const secrets = { value: "sesame-1f0a", password: "whisper-22cb", variable: "murmur-93d1" };

let service: EngineService;
let stack: Stack;
/** Ids of the unmanaged objects. */
const ids: Record<string, string> = {};
beforeAll(async () => {
  service = await useEngineService();
  stack = await pluginWay.createStack(service.environment);
  const createObject = async (kind: string, path: string, body: object): Promise<string> => {
    const { id } = z.looseObject({ id: z.string() }).parse(await service.rest("POST", path, body));
    ids[kind] = id;
    return id;
  };
  const auth = { name: "registry", username: "me", password: secrets.password };
  const containerRegistryAuthId = await createObject("ContainerRegistryAuth", "/containerregistryauth", auth);
  await createObject("NetworkVolume", "/networkvolumes", { name: "models", size: 10, dataCenterId: "EU-RO-1" });
  const template = {
    name: "chat",
    imageName: image("echo"),
    isServerless: true,
    volumeInGb: 0,
    containerDiskInGb: 5,
    env: { HUB_TOKEN: secrets.variable },
    ports: [],
    containerRegistryAuthId,
  };
  const templateId = await createObject("Template", "/templates", template);
  const endpoint = { name: "chat", templateId, gpuTypeIds: ["NVIDIA L4"], workersMax: 1, idleTimeout: 9 };
  await createObject("ServerlessEndpoint", "/endpoints", endpoint);
  const response = await service.graphql(
    `mutation { secretCreate(input: { name: "token", value: "${secrets.value}" }) { id } }`,
  );
  const created = z.looseObject({ data: z.looseObject({ secretCreate: z.looseObject({ id: z.string() }) }) });
  ids["Secret"] = created.parse(response).data.secretCreate.id;
});
afterAll(() => stack.remove());

const inputs: Record<string, object> = {
  NetworkVolume: { name: "models", size: 10, dataCenterId: "EU-RO-1" },
  Template: { name: "chat", imageName: image("echo"), containerDiskInGb: 5 },
  ServerlessEndpoint: { name: "chat", gpuTypeIds: ["NVIDIA L4"], workersMax: 1, idleTimeout: 9 },
  Secret: { name: "token" },
  ContainerRegistryAuth: { name: "registry" },
};

it("imports each kind by its id with all properties that the service returns, and no secret value", async () => {
  const resources = Object.keys(inputs).map((kind) => ({
    type: `serverless-compute:index:${kind}`,
    name: "mine",
    id: ids[kind],
  }));
  const file = join(stack.folder, "import.json");
  await writeFile(file, JSON.stringify({ resources }));
  const { output } = await stack.command(["import", "--file", file, "--yes", "--generate-code=false"]);
  for (const [place, text] of [["output", output], ...(await stack.files())]) {
    for (const value of [...Object.values(secrets), service.service.apiKey]) expect(text, place).not.toContain(value);
  }
  const imported = await stack.resources();
  expect(imported).toHaveLength(Object.keys(inputs).length);
  for (const [kind, expected] of Object.entries(inputs))
    expect(
      imported.find(({ type }) => type.endsWith(`:${kind}`)),
      kind,
    ).toMatchObject({ id: ids[kind], inputs: expected, outputs: expected });
});

it("lists the objects of a kind for `pulumi do`", async () => {
  const plugin = join(pluginFolder(), "pulumi-resource-serverless-compute");
  const type = "serverless-compute:index:NetworkVolume";
  const { output } = await stack.command(["do", "--package", plugin, type, "list", "--name-prefix", "mod"]);
  expect(JSON.parse(output)).toEqual([{ id: ids["NetworkVolume"], name: "models" }]);
});

/** In REST v2 credentials are replaced. */
const unreturned = { v1: ["update"], v2: ["delete-replaced", "replace", "create-replacement"] }[dialect];

it("finds no change in a program with the imported properties, except unreadable properties", async () => {
  const of = (kind: string): string => JSON.stringify(inputs[kind]);
  await stack.writeProgram(`
    const sc = require("${pluginWay.module}");
    new sc.NetworkVolume("mine", ${of("NetworkVolume")});
    const auth = new sc.ContainerRegistryAuth("mine", { ...${of("ContainerRegistryAuth")}, username: "me", password: "other" });
    const template = new sc.Template("mine", {
      ...${of("Template")},
      containerRegistryAuthId: "${ids["ContainerRegistryAuth"]}",
      env: { HUB_TOKEN: "${secrets.variable}" },
    });
    new sc.ServerlessEndpoint("mine", { ...${of("ServerlessEndpoint")}, templateId: template.id });
    new sc.Secret("mine", { ...${of("Secret")}, value: "${secrets.value}" });
  `);
  service.proxy.clear();
  const preview = await stack.preview();
  expect(preview.operations).toEqual({
    "NetworkVolume mine": ["same"],
    "Template mine": ["same"],
    "ServerlessEndpoint mine": ["same"],
    "Secret mine": ["update"],
    "ContainerRegistryAuth mine": unreturned,
  });
  expect(preview.output).toMatch(/ContainerRegistryAuth mine .*diff: \+password,username\]/);
  expect(preview.output).toMatch(/Secret mine .*diff: \+value\]/);
  expect(service.proxy.requests).toEqual([]);
});

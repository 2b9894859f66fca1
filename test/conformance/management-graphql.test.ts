import { describe, expect, test } from "vitest";
import type { Fields } from "../support/local-service";
import { at, expectResponse, send, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { literal, uniqueName, useAccount } from "./support/account";

const target = await useTarget();
const account = useAccount(target);

const endpointInput = async (fields: Fields = {}): Promise<Fields> => ({
  name: uniqueName("endpoint"),
  templateId: await account.template(),
  gpuIds: "AMPERE_16",
  workersMin: 0,
  workersMax: 0,
  ...fields,
});
const saveEndpoint = (input: Fields) =>
  account.graphql(
    "mutation ($input: EndpointInput!) { saveEndpoint(input: $input) { id name templateId workersMin workersMax idleTimeout scalerValue } }",
    { input },
  );
const deleteEndpoint = (id: string) => account.graphql("mutation ($id: String!) { deleteEndpoint(id: $id) }", { id });

describe("GraphQL API: endpoints", () => {
  test("saveEndpoint without id creates an endpoint that REST returns", async () => {
    const input = await endpointInput();
    const response = await saveEndpoint(input);
    expectResponse(response, 200, { data: { saveEndpoint: { name: input["name"], templateId: input["templateId"] } } });
    const id = stringAt(response, "data", "saveEndpoint", "id");
    expectResponse(await account.rest("GET", `/endpoints/${id}`), 200, { id, templateId: input["templateId"] });
    await deleteEndpoint(id);
  });

  test("saveEndpoint without optional fields fills in its own defaults", async () => {
    const { workersMin: _min, workersMax: _max, ...input } = await endpointInput();
    const response = await saveEndpoint(input);
    const defaults = { workersMin: 0, workersMax: 3, idleTimeout: 10, scalerValue: 4 };
    expectResponse(response, 200, { data: { saveEndpoint: defaults } });
    await account.rest("DELETE", `/endpoints/${stringAt(response, "data", "saveEndpoint", "id")}`);
  });

  test("saveEndpoint with id replaces the whole endpoint; omitted fields are reset", async () => {
    const input = await endpointInput({ idleTimeout: 60, scalerValue: 9 });
    const id = stringAt(await saveEndpoint(input), "data", "saveEndpoint", "id");
    const { idleTimeout: _idle, scalerValue: _value, ...rest } = input;
    const response = await saveEndpoint({ ...rest, id });
    expectResponse(response, 200, { data: { saveEndpoint: { id, idleTimeout: 10, scalerValue: 4, workersMax: 0 } } });
    await deleteEndpoint(id);
  });

  test("saveEndpoint with an unknown id or template returns errors", async () => {
    const unknownId = await saveEndpoint(await endpointInput({ id: "nosuchendpoint" }));
    expect(stringAt(unknownId, "errors", 0, "message")).toContain("not found");
    const unknownTemplate = await saveEndpoint(await endpointInput({ templateId: "nosuchtemplate" }));
    expect(stringAt(unknownTemplate, "errors", 0, "message")).toMatch(/template.*(not found|does not exist)/i);
  });

  test("updateEndpointTemplate replaces the template in place", async () => {
    const endpointId = await account.endpoint();
    const templateId = await account.template();
    const input = literal({ endpointId, templateId });
    const response = await account.graphql(`mutation { updateEndpointTemplate(input: ${input}) { id templateId } }`);
    expectResponse(response, 200, { data: { updateEndpointTemplate: { id: endpointId, templateId } } });
    expectResponse(await account.rest("GET", `/endpoints/${endpointId}`), 200, { templateId });
  });
});

describe("GraphQL API: registry auths", () => {
  test("saveRegistryAuth, updateRegistryAuth and deleteRegistryAuth act on the entries of myself, which contain no credentials", async () => {
    const login = { name: uniqueName("registry"), username: "reader", password: "hush" };
    const created = await account.graphql(`mutation { saveRegistryAuth(input: ${literal(login)}) { id name } }`);
    expectResponse(created, 200, { data: { saveRegistryAuth: { name: login.name } } });
    const id = stringAt(created, "data", "saveRegistryAuth", "id");
    const list = () => account.graphql("{ myself { containerRegistryCreds { id name } } }");
    expect((await list()).text).toContain(id);
    const changed = literal({ id, username: "writer", password: "hush-hush" });
    const updated = await account.graphql(`mutation { updateRegistryAuth(input: ${changed}) { id name } }`);
    expectResponse(updated, 200, { data: { updateRegistryAuth: { id, name: login.name } } });
    expect([created.text, updated.text, (await list()).text].join()).not.toMatch(/hush|reader|writer/);
    const deleted = await account.graphql(`mutation { deleteRegistryAuth(registryAuthId: "${id}") }`);
    expect(deleted.json, deleted.text).not.toHaveProperty("errors");
    expect((await list()).text).not.toContain(id);
  });
});

describe("GraphQL API: queries", () => {
  test("operationName selects one of several operations", async () => {
    const query = "query One { myself { id } } query Two { serverlessGpuPools { id } }";
    const response = await send("POST", `${target.graphqlUrl}?api_key=${target.apiKey}`, {
      json: { query, operationName: "Two" },
    });
    expect(at(response.json, "data", "serverlessGpuPools"), response.text).toBeDefined();
    expect(at(response.json, "data", "myself")).toBeUndefined();
  });

  test("myself returns the account with its resources", async () => {
    const templateId = await account.template();
    const endpointId = await account.endpoint({ templateId });
    const [volumeId, secretId] = [await account.volume(), await account.secret()];
    const login = literal({ name: uniqueName("registry"), username: "reader", password: "hush" });
    const auth = await account.graphql(`mutation { saveRegistryAuth(input: ${login}) { id name } }`);
    const response = await account.graphql(
      "{ myself { id email podTemplates { id } endpoints { id } networkVolumes { id } secrets { id } containerRegistryCreds { id name } } }",
    );
    const has = (id: string) => expect.arrayContaining([{ id }]);
    expectResponse(response, 200, {
      data: {
        myself: {
          podTemplates: has(templateId),
          endpoints: has(endpointId),
          networkVolumes: has(volumeId),
          secrets: has(secretId),
          containerRegistryCreds: expect.arrayContaining([at(auth.json, "data", "saveRegistryAuth")]),
        },
      },
    });
    expect(stringAt(response, "data", "myself", "id")).not.toBe("");
    expect(stringAt(response, "data", "myself", "email")).toContain("@");
    await account.graphql(
      `mutation { deleteRegistryAuth(registryAuthId: "${stringAt(auth, "data", "saveRegistryAuth", "id")}") }`,
    );
  });

  test("myself { endpoint(id) } returns one endpoint", async () => {
    const id = await account.endpoint();
    const response = await account.graphql(`{ myself { endpoint(id: "${id}") { id name workersMax } } }`);
    expectResponse(response, 200, { data: { myself: { endpoint: { id, workersMax: 0 } } } });
  });

  test("serverlessGpuPools returns pools with the GPU types in them", async () => {
    const response = await account.graphql("{ serverlessGpuPools { id gpuTypeIds } }");
    expectResponse(response, 200);
    expect(stringAt(response, "data", "serverlessGpuPools", 0, "id")).not.toBe("");
    expect(stringAt(response, "data", "serverlessGpuPools", 0, "gpuTypeIds", 0)).not.toBe("");
  });
});

describe("GraphQL API: unknown objects", () => {
  test.each([
    'deleteTemplate(templateName: "nosuch")',
    'deleteEndpoint(id: "nosuch")',
    'deleteNetworkVolume(input: {id: "nosuch"})',
    'deleteRegistryAuth(registryAuthId: "nosuch")',
    'secretDelete(id: "nosuch")',
    'secretValueUpdate(input: {id: "nosuch", value: "x"}) { id }',
    'secretDescriptionUpdate(input: {id: "nosuch", description: "x"}) { id }',
  ])("%s reports not found", async (operation) => {
    const response = await account.graphql(`mutation { ${operation} }`);
    expectResponse(response, 200);
    expect(stringAt(response, "errors", 0, "message")).toContain("not found");
  });
});

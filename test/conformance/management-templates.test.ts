import { describe, expect, test } from "vitest";
import { at, expectResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { literal, saveTemplate, templateFields, uniqueName, useAccount } from "./support/account";

const target = await useTarget();
const account = useAccount(target);
const deleteTemplate = (name: string) =>
  account.graphql("mutation Delete($name: String) { deleteTemplate(templateName: $name) }", { name });
const message = ["errors", 0, "message"] as const;

describe("GraphQL API: saveTemplate", () => {
  test("saveTemplate without dockerArgs and env creates a template; neither is required", async () => {
    const { dockerArgs: _args, env: _env, ...input } = templateFields();
    const response = await account.graphql(
      `mutation { saveTemplate(input: ${literal(input)}) { id env { key value } } }`,
    );
    expectResponse(response, 200, { data: { saveTemplate: { env: [] } } });
    await deleteTemplate(String(input["name"]));
  });

  test("saveTemplate with an unknown id returns errors and creates nothing", async () => {
    const input = templateFields({ id: "nosuchtemplate" });
    const response = await account.graphql(saveTemplate, { input });
    expectResponse(response, 200);
    expect(stringAt(response, ...message)).toContain("not found");
    const list = await account.graphql("{ myself { podTemplates { name } } }");
    expect(list.text).not.toContain(String(input["name"]));
  });

  test("saveTemplate that creates or renames a template with an existing name returns 'must be unique', status 200 and data null", async () => {
    const name = uniqueName("template");
    await account.template({ name });
    for (const id of [undefined, await account.template()]) {
      const response = await account.graphql(saveTemplate, { input: templateFields({ id, name }) });
      expectResponse(response, 200);
      expect(stringAt(response, ...message)).toContain("must be unique");
      expect(at(response.json, "data", "saveTemplate") ?? null).toBeNull();
    }
  });

  test.each(["name", "imageName", "containerDiskInGb", "volumeInGb"])(
    "saveTemplate without %s returns errors that name it",
    async (field) => {
      const input = templateFields({ [field]: undefined });
      const response = await account.graphql(`mutation { saveTemplate(input: ${literal(input)}) { id } }`);
      expect(stringAt(response, ...message)).toContain(field);
    },
  );
});

describe("GraphQL API: deleteTemplate", () => {
  test("deleteTemplate by name returns null without errors", async () => {
    const name = uniqueName("template");
    const id = await account.template({ name });
    const response = await account.graphql(`mutation { deleteTemplate(templateName: "${name}") }`);
    expectResponse(response, 200, { data: { deleteTemplate: null } });
    expect(response.json).not.toHaveProperty("errors");
    const read = await account.graphql(`{ podTemplate(id: "${id}") { id } }`);
    expect(at(read.json, "data", "podTemplate", "id"), read.text).toBeUndefined();
  });

  test("deleteTemplate while a serverless endpoint uses it returns errors and deletes nothing", async () => {
    const name = uniqueName("template");
    const templateId = await account.template({ name });
    await account.endpoint({ templateId });
    const response = await deleteTemplate(name);
    expectResponse(response, 200);
    expect(stringAt(response, ...message)).toContain("in use");
    expectResponse(await account.graphql(`{ podTemplate(id: "${templateId}") { id } }`), 200, {
      data: { podTemplate: { id: templateId } },
    });
  });

  test("deleteTemplate reports in use within 2 minutes of the last use, and deletes afterwards", async (context) => {
    target.localOnly(context, "the release takes up to 2 real minutes");
    const name = uniqueName("template");
    const templateId = await account.template({ name });
    const endpointId = await account.endpoint({ templateId });
    await account.rest("DELETE", `/endpoints/${endpointId}`);
    expect(stringAt(await deleteTemplate(name), ...message)).toContain("in use");
    await target.advance(115_000, context);
    expect(stringAt(await deleteTemplate(name), ...message)).toContain("in use");
    await target.advance(6_000, context);
    expectResponse(await deleteTemplate(name), 200, { data: { deleteTemplate: null } });
  });
});

describe("REST management API: templates", () => {
  test("POST /templates without optional fields fills in their defaults", async () => {
    const response = await account.rest("POST", "/templates", {
      name: uniqueName("template"),
      imageName: "conformance/none:1",
    });
    expectResponse(response, 200, {
      isServerless: false,
      isPublic: false,
      containerDiskInGb: 50,
      volumeInGb: 20,
      volumeMountPath: "/workspace",
      ports: ["8888/http", "22/tcp"],
      env: {},
    });
    await account.rest("DELETE", `/templates/${stringAt(response, "id")}`);
  });

  test("PATCH /templates/{id} to an existing name returns 400", async () => {
    const name = uniqueName("template");
    await account.template({ name });
    const id = await account.template();
    expectResponse(await account.rest("PATCH", `/templates/${id}`, { name }), 400);
  });

  test("DELETE /templates/{id} while a serverless endpoint uses it returns 400 and deletes nothing", async () => {
    const templateId = await account.template();
    await account.endpoint({ templateId });
    const response = await account.rest("DELETE", `/templates/${templateId}`);
    expectResponse(response, 400);
    expect(stringAt(response, "message")).toContain("in use");
    expectResponse(await account.rest("GET", `/templates/${templateId}`), 200);
  });
});

import { describe, expect, test } from "vitest";
import { at, expectResponse, stringAt } from "../support/raw-http";
import { allowSecret } from "../support/secret-scan";
import { useTarget } from "../support/target";
import { literal, uniqueName, useAccount } from "./support/account";

// The worker returns its environment.
allowSecret("new-and-quiet");
const target = await useTarget();
const account = useAccount(target);
const listSecrets = () => account.graphql("{ myself { secrets { id name description } } }");

describe("GraphQL API: secrets", () => {
  test("secretCreate returns id, name and description, which is null by default; the list contains the same", async () => {
    for (const description of [null, "token of the hub"]) {
      const input = { name: uniqueName("secret"), value: "hush", ...(description && { description }) };
      const response = await account.graphql(
        `mutation { secretCreate(input: ${literal(input)}) { id name description } }`,
      );
      const record = { name: input.name, description };
      expectResponse(response, 200, { data: { secretCreate: record } });
      expect(response.json).not.toHaveProperty("errors");
      const id = stringAt(response, "data", "secretCreate", "id");
      expect(at((await listSecrets()).json, "data", "myself", "secrets")).toContainEqual({ id, ...record });
      await account.graphql(`mutation { secretDelete(id: "${id}") }`);
    }
  });

  test.each(["name", "value"])("secretCreate without %s returns errors that name it", async (field) => {
    const input = { name: uniqueName("secret"), value: "hush-hush", [field]: undefined };
    const response = await account.graphql(`mutation { secretCreate(input: ${literal(input)}) { id } }`);
    expect(stringAt(response, "errors", 0, "message")).toContain(field);
    if (field === "name") expect(response.text).not.toContain("hush-hush");
  });

  test("secretCreate with an existing name returns errors", async () => {
    const name = uniqueName("secret");
    await account.secret({ name });
    const response = await account.graphql(
      `mutation { secretCreate(input: {name: "${name}", value: "hush-hush"}) { id } }`,
    );
    expectResponse(response, 200);
    expect(stringAt(response, "errors", 0, "message")).toMatch(/unique|exists/);
    expect(response.text).not.toContain("hush-hush");
  });

  test("secretDelete returns null without errors and deletes the secret", async () => {
    const id = await account.secret();
    const response = await account.graphql(`mutation { secretDelete(id: "${id}") }`);
    expectResponse(response, 200, { data: { secretDelete: null } });
    expect(response.json).not.toHaveProperty("errors");
    expect((await listSecrets()).text).not.toContain(id);
  });

  test("secretDescriptionUpdate changes the description and nothing else", async () => {
    const name = uniqueName("secret");
    const id = await account.secret({ name });
    const response = await account.graphql(
      `mutation { secretDescriptionUpdate(input: {id: "${id}", description: "new"}) { id name description } }`,
    );
    expectResponse(response, 200, { data: { secretDescriptionUpdate: { id, name, description: "new" } } });
  });

  test("a secret's value is never returned", async () => {
    await account.secret({ value: "very-quiet" });
    const response = await account.graphql("{ myself { secrets { id name value } } }");
    expect(at(response.json, "errors"), response.text).toBeDefined();
    expect(response.text).not.toContain("very-quiet");
    expect((await listSecrets()).text).not.toContain("very-quiet");
  });

  test("a template env value {{ RUNPOD_SECRET_<name> }} reaches workers as the value of the last secretValueUpdate", async (context) => {
    const name = uniqueName("secret");
    const id = await account.secret({ name, value: "old-and-quiet" });
    const response = await account.graphql(
      `mutation { secretValueUpdate(input: {id: "${id}", value: "new-and-quiet"}) { id name } }`,
    );
    expectResponse(response, 200, { data: { secretValueUpdate: { id, name } } });
    expect(response.text).not.toContain("quiet");
    const env = [
      { key: "TOKEN", value: `{{ RUNPOD_SECRET_${name} }}` },
      { key: "PLAIN", value: "as it is" },
    ];
    const jobs = await account.jobsOn("env", context, {}, { env });
    const output = { TOKEN: "new-and-quiet", PLAIN: "as it is" };
    expectResponse(await jobs.runsync({ names: ["TOKEN", "PLAIN"] }), 200, { output });
  });
});

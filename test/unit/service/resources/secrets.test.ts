import { describe, expect, test } from "vitest";
import { type Fields, freshName, useSharedService } from "../../../support/local-service";
import { ManualClock } from "../../../support/manual-clock";
import { expectResponse, type RawResponse, stringAt } from "../../../support/raw-http";
import { registerSecret } from "../../../support/secret-scan";
import { messageOf } from "./resources-rig";

const clock = new ManualClock();
const rig = await useSharedService({ clock, logLevel: "debug" });
const loud = "very-loud-value";
// The rig scans the data folder for it when the service has stopped.
registerSecret(loud, "a secret value");
const secretCreate = "mutation ($input: SecretCreateInput!) { secretCreate(input: $input) { id name description } }";
const create = (input: Fields): Promise<RawResponse> => rig.graphql(secretCreate, { input });
const literal = (value: string) => `mutation { secretCreate(input: ${value}) { id } }`;

describe("an error about a secret never contains its value", () => {
  test.each<[string, () => Promise<RawResponse>]>([
    [
      "a taken name",
      async () => {
        const name = freshName("secret");
        await create({ name, value: "first" });
        return create({ name, value: loud });
      },
    ],
    ["a name that is not allowed", () => create({ name: "no blanks", value: loud })],
    ["a missing name", () => create({ value: loud })],
    ["an unknown field", () => create({ name: "x", value: loud, vault: loud })],
    ["a value of another type", () => create({ name: "x", value: { text: loud } })],
    ["a description of another type", () => create({ name: "x", value: loud, description: { text: loud } })],
    ["a whole input of another type", () => rig.graphql(secretCreate, { input: `at "a"; ${loud}` as unknown })],
    ["a literal of another type", () => rig.graphql(literal(`{ name: "x", value: { text: "${loud}" } }`))],
    ["a literal in the wrong place", () => rig.graphql(literal(`"${loud}"`))],
    ["a syntax error", () => rig.graphql(literal(`{ name: "x", value "${loud}" }`))],
    ["a syntax error in a block text", () => rig.graphql(literal(`{ name: "x", value """${loud}""" }`))],
    [
      "an unknown id",
      () => rig.graphql(`mutation { secretValueUpdate(input: {id: "nosuch", value: "${loud}"}) { id } }`),
    ],
    ["an empty value", () => create({ name: freshName("secret"), value: "" })],
    ["a broken body", () => rig.rest("POST", "/containerregistryauth", { name: "x", username: "", password: loud })],
    [
      "a wrong type in REST",
      () => rig.rest("POST", "/containerregistryauth", { name: 7, username: "x", password: [loud] }),
    ],
    [
      "a template's environment",
      () => rig.rest("POST", "/templates", { name: "x", imageName: "x", env: { KEY: [loud] } }),
    ],
  ])("%s", async (_what, request) => {
    const response = await request();
    expect(messageOf(response)).not.toBe("");
    expect(response.text).not.toContain(loud);
    expect(response.text).not.toContain("internal");
  });
});

test("messages about values of the wrong type name the field", async () => {
  expect(messageOf(await create({ name: "x", value: { text: loud } }))).toContain('"input.value"');
  expect(messageOf(await create({ value: loud }))).toContain('"name"');
  expect(messageOf(await create({ name: "x", value: "" }))).toBe("value: must not be empty");
});

test("an update of the value changes only updatedAt, and does not return the value", async () => {
  const response = await create({ name: freshName("secret"), value: loud, description: "first" });
  const id = stringAt(response, "data", "secretCreate", "id");
  const fields = "id name description createdAt updatedAt";
  const createdAt = new Date(clock.now()).toISOString();
  await clock.advance(1000);
  const updatedAt = new Date(clock.now()).toISOString();
  const valued = await rig.graphql(
    `mutation { secretValueUpdate(input: {id: "${id}", value: "${loud}-2"}) { ${fields} } }`,
  );
  expectResponse(valued, 200, { data: { secretValueUpdate: { id, description: "first", createdAt, updatedAt } } });
  expect(valued.text).not.toContain(loud);
});

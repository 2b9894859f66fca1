import { describe, expect, test } from "vitest";
import { at, expectResponse, stringAt } from "../support/raw-http";
import { allowSecret } from "../support/secret-scan";
import { useTarget } from "../support/target";
import { uniqueName, useAccount } from "./support/account";
import { expectProblem, useRestV2 } from "./support/rest-v2";

// The worker returns its environment.
allowSecret("set-by-rest-v2");
const target = await useTarget();
const account = useAccount(target);
const { call, make } = useRestV2(target, account);
const path = "/account/secrets";
const newSecret = (fields: Record<string, unknown> = {}) => ({
  name: uniqueName("secret"),
  value: "hush-hush",
  ...fields,
});

describe("REST v2: secrets", () => {
  test("POST returns 201 with the record, GET 200, DELETE 204 without a body", async () => {
    const body = newSecret({ description: "token of the hub" });
    const created = await call("POST", path, body);
    expectResponse(created, 201);
    const record = {
      id: stringAt(created, "id"),
      name: body.name,
      description: "token of the hub",
      createdAt: expect.stringMatching(/Z$/),
      valueLastUpdatedAt: expect.stringMatching(/Z$/),
    };
    expect(created.json).toEqual(record);
    expect((await call("GET", `${path}/${record.id}`)).json).toEqual(record);
    const removed = await call("DELETE", `${path}/${record.id}`);
    expectResponse(removed, 204);
    expect(removed.text).toBe("");
    for (const method of ["GET", "DELETE"])
      expectProblem(await call(method, `${path}/${record.id}`), 404, "resource not found");
    expectProblem(await call("PATCH", `${path}/${record.id}`, { value: "x" }), 404, "resource not found");
  });

  test("GET ?name= returns the secret of that name, case ignored", async () => {
    const name = `${uniqueName("Secret")}-Upper/path`;
    const id = await make(path, newSecret({ name }));
    await make(path, newSecret());
    const listed = await call("GET", `${path}?name=${encodeURIComponent(name.toUpperCase())}`);
    expect(at(listed.json, "secrets")).toEqual([expect.objectContaining({ id, name, description: null })]);
    expect(at((await call("GET", path)).json, "secrets")).toContainEqual(expect.objectContaining({ id }));
    expect((await call("GET", `${path}?name=nosuch`)).json).toMatchObject({ secrets: [] });
  });

  test("POST with a duplicate name is 409 and returns no value", async () => {
    const body = newSecret();
    await make(path, body);
    const response = await call("POST", path, { ...body, value: "other-value" });
    expectProblem(response, 409, body.name);
    expect(response.text).not.toContain("other-value");
  });

  test.each([
    ["a reserved name", { name: "RunPod_token" }],
    ["a value of another type", { value: 7001 }],
    ["a value with a null character", { value: "a\0b" }],
    ["a value of 16777216 bytes", { value: "ä".repeat(8_388_608) }],
    ["a description of 65536 bytes", { description: "ä".repeat(32_768) }],
  ])("POST with %s is 422", async (_what, fields) => {
    const response = await call("POST", path, newSecret(fields));
    expectProblem(response, 422, "Request validation failed.");
    expect(response.text).not.toContain("hush-hush");
    expect(response.text).not.toContain("7001");
  });

  test("names of 191 characters and the largest value and description are accepted", async () => {
    const name = `_/.-${uniqueName("x")}`.padEnd(191, "x");
    const value = "v".repeat(16_777_215);
    const response = await call("POST", path, newSecret({ name, value, description: "d".repeat(65_535) }));
    expect(response.status).toBe(201);
    expect(stringAt(response, "name")).toBe(name);
  });

  test("PATCH changes value and description, an empty description clears it, the name is immutable", async () => {
    const body = newSecret({ description: "first" });
    const id = await make(path, body);
    const before = await call("GET", `${path}/${id}`);
    const updated = await call("PATCH", `${path}/${id}`, { description: "second" });
    expect(updated.json).toEqual({ ...Object(before.json), description: "second" });
    expectResponse(await call("PATCH", `${path}/${id}`, { value: "next-value", description: "" }), 200, {
      id,
      name: body.name,
      description: null,
    });
    for (const fault of [{}, { name: "other" }, { value: "" }, { description: null }])
      expectProblem(await call("PATCH", `${path}/${id}`, fault), 422);
  });

  test("secrets are shared with GraphQL and reach workers", async (context) => {
    const name = uniqueName("secret");
    const id = await make(path, newSecret({ name, value: "set-by-rest-v2" }));
    const listed = await account.graphql("{ myself { secrets { id name description } } }");
    expect(at(listed.json, "data", "myself", "secrets")).toContainEqual({ id, name, description: null });
    const other = await account.secret({ description: "made by GraphQL" });
    expectResponse(await call("GET", `${path}/${other}`), 200, { id: other, description: "made by GraphQL" });
    const env = [{ key: "TOKEN", value: `{{ RUNPOD_SECRET_${name} }}` }];
    const jobs = await account.jobsOn("env", context, {}, { env });
    expectResponse(await jobs.runsync({ names: ["TOKEN"] }), 200, { output: { TOKEN: "set-by-rest-v2" } });
  });
});

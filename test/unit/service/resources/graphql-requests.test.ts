import { describe, expect, test } from "vitest";
import { useSharedService } from "../../../support/local-service";
import { at, expectResponse, type RawResponse, send, stringAt } from "../../../support/raw-http";

const rig = await useSharedService();
const post = (text: string, headers: Record<string, string> = {}): Promise<RawResponse> =>
  send("POST", rig.service.graphqlUrl, { key: rig.service.apiKey, text, headers });
const request = (json: unknown): Promise<RawResponse> => post(JSON.stringify(json));
const query = "{ myself { id } }";

describe("a GraphQL request", () => {
  test.each([
    ["only a query", { query }],
    ["null variables and a null operation name", { query, variables: null, operationName: null }],
    ["extensions", { query, extensions: { traced: true } }],
    ["a key that is special in JavaScript", { query, variables: JSON.parse('{ "__proto__": 1 }') }],
  ])("with %s returns only data, as JSON", async (_what, json) => {
    const response = await request(json);
    expectResponse(response, 200);
    expect(response.json).toEqual({ data: { myself: { id: "local" } } });
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  test.each([
    ["no query", {}, "query: is required and must be a string"],
    ["a query that is not a string", { query: 5 }, "query: 5 is not allowed; must be a string"],
    ["variables that are not an object", { query, variables: "hush" }, "variables: must be an object"],
    ["variables that are a list", { query, variables: ["hush"] }, "variables: must be an object"],
    ["an operation name that is not a string", { query, operationName: 5 }, "operationName: 5 is not allowed"],
    ["several requests", [{ query }], "body: must be a JSON object"],
    ["an empty query", { query: "" }, "Syntax Error: Unexpected <EOF>."],
    ["a syntax error", { query: "{ myself {" }, "Syntax Error: Expected Name, found <EOF>."],
    [
      "an unknown operation",
      { query: "query A { myself { id } }", operationName: "B" },
      'Unknown operation named "B".',
    ],
    ["two operations and no name", { query: `query A ${query} query B ${query}` }, "Must provide operation name"],
    ["a misspelt field", { query: "{ myself { emial } }" }, 'Did you mean "email"?'],
    ["a subscription", { query: "subscription { myself }" }, "not configured to execute subscription operation"],
    ["a missing variable", { query: "query ($id: String!) { podTemplate(id: $id) { id } }" }, 'Variable "$id"'],
    [
      "a value of a variable that the schema does not allow",
      { query: "query ($id: String!) { podTemplate(id: $id) { id } }", variables: { id: { secret: "hush" } } },
      'Variable "$id" got an invalid value; String cannot represent a non string value',
    ],
    [
      "a value inside of a variable that the schema does not allow",
      {
        query: "mutation ($input: SecretCreateInput!) { secretCreate(input: $input) { name } }",
        variables: { input: { name: "n", value: ["hush"] } },
      },
      'Variable "$input" got an invalid value at "input.value"; String cannot represent a non string value',
    ],
  ])("with %s returns 400 with null data and an error that names the fault", async (_what, json, message) => {
    const response = await request(json);
    expectResponse(response, 400, { data: null, errors: [{ extensions: { code: "invalid" } }] });
    expect(stringAt(response, "errors", 0, "message")).toMatch(message);
    expect(response.text).not.toContain("hush");
  });

  test("with several mutations runs them in order, and a failure returns null data", async () => {
    const response = await request({
      query: `mutation {
        first: secretCreate(input: { name: "kept", value: "v" }) { name }
        second: deleteEndpoint(id: "nosuch")
      }`,
    });
    expectResponse(response, 200, {
      data: null,
      errors: [{ path: ["second"], locations: [{ line: 3, column: 9 }], extensions: { code: "missingOnDelete" } }],
    });
    const secrets = await request({ query: "{ myself { secrets { name } } }" });
    expect(at(secrets.json, "data", "myself", "secrets")).toEqual([{ name: "kept" }]);
  });

  test("may request the schema", async () => {
    const fields = `{ __schema { queryType { fields { name } } mutationType { fields { name } } } __typename }`;
    const response = await request({ query: fields });
    expectResponse(response, 200, { data: { __typename: "Query" } });
    expect(response.text).toContain('"saveTemplate"');
  });

  test("returns application/json for any Accept header, and requires a JSON body", async () => {
    const accepting = await post(JSON.stringify({ query }), { accept: "application/graphql-response+json" });
    expect(accepting.headers.get("content-type")).toBe("application/json; charset=utf-8");
    for (const type of ["application/graphql", "application/x-www-form-urlencoded"]) {
      const response = await post(query, { "content-type": type });
      expectResponse(response, 400, {
        data: null,
        errors: [{ message: "header Content-Type: must be application/json" }],
      });
    }
  });
});

test("every mutation of the schema has a resolver", async () => {
  const response = await request({ query: "{ __schema { mutationType { fields { name } } } }" });
  const fields = at(response.json, "data", "__schema", "mutationType", "fields");
  const names = Array.isArray(fields) ? fields.map((field) => at(field, "name")) : [];
  // With unknown ids each mutation fails, unlike a field without a resolver.
  const calls = [
    'saveTemplate(input: { id: "x", name: "n", containerDiskInGb: 1, volumeInGb: 0 }) { id }',
    'deleteTemplate(templateName: "x")',
    'saveEndpoint(input: { id: "x", name: "n" }) { id }',
    'deleteEndpoint(id: "x")',
    'updateEndpointTemplate(input: { endpointId: "x", templateId: "x" }) { id }',
    "updateUserSettings(input: null) { id }",
    "podFindAndDeployOnDemand(input: { gpuCount: 1 }) { id }",
    "podRentInterruptable(input: { gpuCount: 1 }) { id }",
    "deployCpuPod(input: { gpuCount: 1 }) { id }",
    'secretCreate(input: { name: "no blanks", value: "v" }) { id }',
    'secretValueUpdate(input: { id: "x", value: "v" }) { id }',
    'secretDescriptionUpdate(input: { id: "x", description: "v" }) { id }',
    'secretDelete(id: "x")',
    'createNetworkVolume(input: { name: "", size: 1, dataCenterId: "EU-RO-1" }) { id }',
    'updateNetworkVolume(input: { id: "x", size: 2 }) { id }',
    'deleteNetworkVolume(input: { id: "x" })',
    'saveRegistryAuth(input: { name: "", username: "u", password: "p" }) { id }',
    'updateRegistryAuth(input: { id: "x", username: "u", password: "p" }) { id }',
    'deleteRegistryAuth(registryAuthId: "x")',
  ];
  expect(calls.map((call) => call.replace(/\(.*/, ""))).toEqual(names);
  for (const call of calls) {
    const rejection = await request({ query: `mutation { ${call} }` });
    expect(stringAt(rejection, "errors", 0, "message"), call).not.toContain("internal");
  }
});

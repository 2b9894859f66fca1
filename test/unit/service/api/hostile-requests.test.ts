import { getIntrospectionQuery } from "graphql";
import { describe, expect, test } from "vitest";
import { postOversized } from "../../../conformance/support/oversize";
import { useSharedService } from "../../../support/local-service";
import { at, expectResponse, type RawResponse, send } from "../../../support/raw-http";
import { messageOf } from "../resources/resources-rig";

const rig = await useSharedService({ images: { "acme/none:1": "true" } });
const roots = {
  REST: () => `${rig.service.baseUrl}/templates`,
  GraphQL: () => rig.service.graphqlUrl,
};
const key = () => rig.service.apiKey;
const many = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, n) => text(n)).join(" ");

test.each(["REST", "GraphQL"] as const)(
  "%s: a client that is still sending a body that is too large receives the 413 with the limit",
  async (api) => {
    const results = await postOversized(roots[api](), key(), 8_000_000);
    expect(results).toEqual(Array.from({ length: 10 }, () => "413 with a body"));
    const response = await send("POST", roots[api](), { key: key(), text: " ".repeat(1_048_577) });
    expect(messageOf(response)).toBe("body: is too large; the limit is 1 MB (1048576 bytes)");
  },
);

const parsedBodies = {
  "REST v1": { method: "POST", url: roots.REST, invalidText: 400 },
  "REST v2": { method: "POST", url: () => `${rig.service.serverlessUrl}/v2/templates`, invalidText: 422 },
  GraphQL: { method: "POST", url: roots.GraphQL, invalidText: 400 },
  "a local path": { method: "PUT", url: () => `${rig.root}/local/endpoints/none/faults`, invalidText: 400 },
} as const;
const names = Object.keys(parsedBodies) as (keyof typeof parsedBodies)[];
const nested = (levels: number): string => `{"name":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

test.each(names.flatMap((api) => [400_000, 1001].map((levels) => [api, levels] as const)))(
  "%s: a body with %i levels is rejected without an internal error",
  async (api, levels) => {
    const { method, url } = parsedBodies[api];
    const response = await send(method, url(), { key: key(), text: nested(levels) });
    expectResponse(response, 400);
    expect(response.text).toContain('"body: must not nest deeper than 1000 levels"');
  },
);

test.each(names)("%s: a body with 1000 levels is not rejected because of them", async (api) => {
  const { method, url } = parsedBodies[api];
  const response = await send(method, url(), { key: key(), text: nested(1000) });
  expect(response.status).toBeLessThan(500);
  expect(response.text).not.toContain("nest");
});

test.each(names)("%s: a body with a null character is rejected", async (api) => {
  const { method, url, invalidText } = parsedBodies[api];
  const response = await send(method, url(), { key: key(), json: { name: ["a\0b"] } });
  expectResponse(response, invalidText);
  expect(response.text).toContain("name.0: must not contain a null character");
});

describe("an excessive GraphQL query", () => {
  const request = (query: string) => rig.graphql(query);

  test.each([
    ["many aliases", `{ ${many(2000, (n) => `a${n}: myself { endpoints { id } }`)} }`],
    ["a repeated field", `{ myself { ${many(20_000, () => "id")} } }`],
    ["many mutations", `mutation { ${many(2000, (n) => `a${n}: secretDelete(id: "x")`)} }`],
  ])("%s: is rejected by its length", async (_what, query) => {
    const response = await request(query);
    expectResponse(response, 400, { data: null });
    expect(messageOf(response)).toContain("more that 10000 tokens");
  });

  test("nested far too deep is rejected", async () => {
    const response = await request("{ myself ".repeat(20_000));
    expectResponse(response, 400, { data: null, errors: [{ extensions: { code: "invalid" } }] });
    // The parser exceeds the stack or counts the tokens first, which depends on whether it has been optimized.
    expect(messageOf(response)).toMatch(/^query: is nested too deeply$|more that 10000 tokens/);
  });

  test("with many nested lists is rejected by its cost", async () => {
    const response = await request(`{ ${many(40, (n) => `d${n}: dataCenters { gpuAvailability { available } }`)} }`);
    expectResponse(response, 200, { data: null });
    expect(messageOf(response)).toBe("query: reads more than 10000 objects; request fewer objects");
  });

  test.each([
    ["aliases", `{ ${many(51, (n) => `a${n}: myself { id }`)} }`, "50 aliases"],
    ["fields", `{ myself { ${many(501, () => "id")} } }`, "500 fields"],
    [
      "fields in nested fragments",
      `{ myself { ...a9 } } fragment a0 on User { id } ${many(9, (n) => `fragment a${n + 1} on User { ...a${n} ...a${n} }`)}`,
      "500 fields",
    ],
    ["levels", `{ ${"myself { ".repeat(20)} id ${"}".repeat(20)} }`, "20 levels"],
    ["operations", many(51, (n) => `query q${n} { __typename }`), "50 operations and fragments"],
  ])("with too many %s is rejected before its validation", async (_what, query, bound) => {
    const response = await request(query);
    expectResponse(response, 400, { data: null, errors: [{ extensions: { code: "invalid" } }] });
    expect(messageOf(response)).toBe(`query: has more than ${bound}; send several requests`);
  });

  test("without a key is rejected with 401 before its validation, unless it is a short query of the catalog", async () => {
    const anonymous = (query: string) => send("POST", roots.GraphQL(), { json: { query } });
    const fields = "id name location gpuAvailability { available stockStatus gpuTypeId gpuTypeDisplayName }";
    const long = await anonymous(`{ ${many(700, (n) => `a${n}: dataCenters { ${fields} }`)} }`);
    expectResponse(long, 401);
    expect(at((await anonymous(`{ dataCenters { ${fields} } }`)).json, "data", "dataCenters", 0, "id")).toBeDefined();
  });

  test.each([
    ["a text like an error", "cannot represent "],
    ["a text like another error", "found Unexpected "],
    ["quotes", '\\" at \\"a.b'],
    ["one word", "a"],
  ])(
    "without a key and with a value of 400 kB is rejected without reading the value repeatedly: %s",
    async (_what, part) => {
      const query = `{ gpuTypes(input: "${part.repeat(Math.floor(400_000 / part.length))}") { id } }`;
      const response = await send("POST", roots.GraphQL(), { json: { query } });
      expectResponse(response, 400);
      expect(messageOf(response)).toBe('Expected value of type "GpuTypeFilter", found a string.');
    },
  );

  test("the introspection queries of common clients are within the bounds", async () => {
    const response = await request(getIntrospectionQuery({ inputValueDeprecation: true }));
    expect(at(response.json, "data", "__schema", "types"), response.text.slice(0, 300)).toBeDefined();
  });

  test("a query of all endpoints and templates is within the bounds", async () => {
    const response = await request(
      "{ myself { endpoints { id template { id name } networkVolume { id } } podTemplates { id env { key } } } }",
    );
    expect(at(response.json, "data", "myself", "endpoints"), response.text).toBeDefined();
  });
});

test.each(["networkVolumes", "dataCenterIds", "templateId", "unknown"])(
  "REST v2: a value of 400 kB with quotes is rejected without reading it repeatedly: %s",
  async (property) => {
    const text = `${'\\"'.repeat(100_000)}\\`;
    const body = {
      name: "x",
      image: "a",
      type: "QUEUE",
      gpu: { pools: ["AMPERE_24"] },
      scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
      ...(property === "unknown" ? { [text]: 1 } : { [property]: property === "templateId" ? text : [text] }),
    };
    const response = await send("POST", `${rig.service.serverlessUrl}/v2/serverless`, { key: key(), json: body });
    expect([400, 404, 422]).toContain(response.status);
  },
);

test("many invalid texts in a deeply nested body, also without a key, are reported with the first ones only", async () => {
  const depth = 900;
  const texts = Array.from({ length: 20_000 }, () => '"\\u0000"').join(",");
  const text = `{"query":"{ a }","variables":${'{"a":'.repeat(depth)}[${texts}]${"}".repeat(depth)}}`;
  const response = await send("POST", roots.GraphQL(), { text });
  expectResponse(response, 400);
  expect(messageOf(response).split("; ")).toHaveLength(20);
  expect(messageOf(response)).toMatch(/^variables\.a\.a.*\.a\.0: must not contain a null character; .*\.a\.19: /);
});

test("REST: an image name of 1025 characters is rejected", async () => {
  const response = await rig.rest("POST", "/templates", { name: "long", imageName: "a".repeat(1025) });
  expectResponse(response, 400);
  expect(messageOf(response)).toMatch(/^imageName: .* is not allowed; must have 1024 characters or fewer$/s);
});

test("a fault is reported once, even if two rules find it", async () => {
  const response = await rig.rest("POST", "/networkvolumes", { name: "v", size: 1e308, dataCenterId: "EU-RO-1" });
  expectResponse(response, 400, { message: "size: 1e+308 is not allowed; must be a whole number from 0 to 4000" });
});

test.each<[string, (name: string) => Promise<RawResponse>]>([
  ["REST", (name) => rig.rest("POST", "/networkvolumes", { name, size: 10, dataCenterId: "EU-RO-1" })],
  [
    "GraphQL, literal",
    (name) => rig.graphql(`mutation { saveTemplate(input: { name: ${JSON.stringify(name)}, imageName: "i" }) { id } }`),
  ],
  [
    "GraphQL, default",
    (name) => rig.graphql(`query ($name: String = ${JSON.stringify(name)}) { podTemplate(id: $name) { id } }`),
  ],
  [
    "GraphQL, variable",
    (name) =>
      send("POST", roots.GraphQL(), {
        key: key(),
        json: { query: "mutation ($name: String) { deleteTemplate(templateName: $name) }", variables: { name } },
      }),
  ],
])("%s: a text that the store would truncate is rejected", async (_api, request) => {
  const response = await request("a\0b");
  expectResponse(response, 400);
  expect(messageOf(response)).toMatch(/^(variables\.)?name: must not contain a null character$/);
});

test.each([
  ["secretCreate", (fields: string) => `secretCreate(input: {name: "cut", ${fields}})`],
  ["secretValueUpdate", (fields: string) => `secretValueUpdate(input: {id: "x", ${fields}})`],
])("%s rejects a value that the store would truncate, without showing it", async (_name, mutation) => {
  const response = await rig.graphql(`mutation { ${mutation('value: "hush\\u0000hush"')} { id } }`);
  expect(messageOf(response)).toBe("value: must not contain a null character");
});

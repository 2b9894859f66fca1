import { describe, expect, test } from "vitest";
import { jobOperations } from "../support/job-api";
import { at, expectResponse, type RawResponse, send } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";

const target = await useTarget();
const account = useAccount(target);
const parked = await account.parked();
const key = target.apiKey;
const wrong = key.replace(/.$/, (last) => (last === "0" ? "1" : "0"));

/** Invalid Authorization headers, by their fault. */
const bad: [string, Record<string, string>][] = [
  ["no key", {}],
  ["a wrong key", { authorization: `Bearer ${wrong}` }],
  ["an empty key", { authorization: "Bearer " }],
  ["the key cut short", { authorization: `Bearer ${key.slice(0, -1)}` }],
  ["a scheme that ends like Bearer", { authorization: `XBearer ${key}` }],
  ["text after the key", { authorization: `Bearer ${key} x` }],
  ["the key as Basic", { authorization: `Basic ${key}` }],
];

function expectRefusal(response: RawResponse): void {
  expectResponse(response, 401);
  expect(response.json, "an error body in JSON").toBeInstanceOf(Object);
  expect(response.text).not.toContain(key);
  expect(response.text).not.toContain(wrong);
}

describe("Authentication: REST management API", () => {
  const operations: [string, string][] = [
    ["POST", "/endpoints"],
    ["GET", "/endpoints"],
    ["GET", "/endpoints/some-id"],
    ["PATCH", "/endpoints/some-id"],
    ["DELETE", "/endpoints/some-id"],
    ["POST", "/networkvolumes"],
    ["GET", "/networkvolumes"],
    ["GET", "/networkvolumes/some-id"],
    ["PATCH", "/networkvolumes/some-id"],
    ["DELETE", "/networkvolumes/some-id"],
    ["POST", "/templates"],
    ["GET", "/templates"],
    ["DELETE", "/templates/some-id"],
    ["GET", "/containerregistryauth"],
  ];

  test("Authorization: Bearer <API_KEY> is accepted", async () => {
    expectResponse(await send("GET", `${target.baseUrl}/endpoints`, { key }), 200);
  });

  test.each(operations)("%s %s without a key or with a wrong key returns 401", async (method, path) => {
    const json = method === "POST" ? {} : undefined;
    for (const wrongKey of [undefined, wrong])
      expectRefusal(await send(method, `${target.baseUrl}${path}`, { key: wrongKey, json }));
  });

  test.each(bad)("with %s the response is 401 with a message", async (_what, headers) => {
    const response = await send("GET", `${target.baseUrl}/endpoints`, { headers });
    expectRefusal(response);
    expect(at(response.json, "message")).toBeTypeOf("string");
  });

  test("the key without the Bearer scheme, or as a query parameter, returns 401", async () => {
    expectRefusal(await send("GET", `${target.baseUrl}/endpoints`, { headers: { authorization: key } }));
    expectRefusal(await send("GET", `${target.baseUrl}/endpoints?api_key=${key}`));
  });

  test("a POST with a wrong key creates nothing", async () => {
    const body = { name: "conf-sneaky", size: 1, dataCenterId: "EU-RO-1" };
    expectRefusal(await send("POST", `${target.baseUrl}/networkvolumes`, { key: wrong, json: body }));
    expect((await account.rest("GET", "/networkvolumes")).text).not.toContain("conf-sneaky");
  });
});

describe("Authentication: Job API", () => {
  test.each([`Bearer ${key}`, key])(
    "authorization: <API_KEY> is accepted with and without a scheme (%#)",
    async (authorization) => {
      expectResponse(await send("GET", `${parked.root}/health`, { headers: { authorization } }), 200);
    },
  );

  test.each(jobOperations)(
    "%s %s without a key or with a wrong key returns 401 and queues nothing",
    async (method, path) => {
      const json = method === "POST" ? { input: {} } : undefined;
      expectRefusal(await send(method, `${parked.root}${path}`, { json }));
      expectRefusal(await send(method, `${parked.root}${path}`, { json, headers: { authorization: wrong } }));
      expect(await parked.health()).toMatchObject({ jobs: { inQueue: 0 } });
    },
  );

  test.each(bad)("with %s the response is 401", async (_what, headers) => {
    expectRefusal(await send("GET", `${parked.root}/health`, { headers }));
  });

  test("the key as a query parameter returns 401; a wrong key is reported before an unknown endpoint", async () => {
    expectRefusal(await send("GET", `${parked.root}/health?api_key=${key}`));
    expectRefusal(await send("GET", `${target.serverlessUrl}/v2/nosuchendpoint/health`, { key: wrong }));
  });
});

describe("Authentication: GraphQL API", () => {
  const query = { json: { query: "{ myself { id } }" } };
  const request = (suffix: string, headers: Record<string, string> = {}) =>
    send("POST", `${target.graphqlUrl}${suffix}`, { ...query, headers });

  test("the key is accepted in the query parameter api_key and as Authorization: Bearer <API_KEY>", async () => {
    for (const response of [await request(`?api_key=${key}`), await request("", { authorization: `Bearer ${key}` })]) {
      expectResponse(response, 200);
      expect(at(response.json, "data", "myself", "id")).toBeTypeOf("string");
    }
  });

  test.each(["", "?api_key=", `?api_key=${wrong}`, `?api_key=${key}x`])(
    "a query parameter that is not a valid key (form %#) returns 401",
    async (suffix) => {
      expectRefusal(await request(suffix));
    },
  );

  test("a wrong bearer key returns 401", async () => {
    expectRefusal(await request("", { authorization: `Bearer ${wrong}` }));
  });

  test("a mutation with a wrong key changes nothing", async () => {
    const mutation = { json: { query: 'mutation { secretCreate(input: {name: "conf_sneaky", value: "x"}) { id } }' } };
    expectRefusal(await send("POST", `${target.graphqlUrl}?api_key=${wrong}`, mutation));
    expect((await account.graphql("{ myself { secrets { name } } }")).text).not.toContain("conf_sneaky");
  });
});

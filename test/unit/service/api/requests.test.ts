import { describe, expect, test } from "vitest";
import { useSharedService } from "../../../support/local-service";
import { at, expectResponse, send } from "../../../support/raw-http";

const rig = await useSharedService();
const key = () => rig.service.apiKey;

describe("an invalid request is rejected in the form of its API", () => {
  test.each([
    ["REST", () => rig.service.baseUrl, (body: unknown) => at(body, "message")],
    ["GraphQL", () => rig.service.graphqlUrl, (body: unknown) => at(body, "errors", 0, "message")],
  ])("a broken JSON body in %s, without quoting it", async (api, root, message) => {
    const url = api === "REST" ? `${root()}/templates` : root();
    const response = await send("POST", url, { key: key(), text: '{"password": "hush' });
    expectResponse(response, 400);
    expect(message(response.json)).toBe("body: must be valid JSON");
    expect(response.text).not.toContain("hush");
  });

  test("global volumes, which this service does not have, are an empty page, POST is 501, and every id is unknown", async () => {
    const call = (method: string, path = "") =>
      send(method, `${rig.service.serverlessUrl}/v2/global-volumes${path}`, {
        key: key(),
        ...(method === "POST" && { json: { name: "models" } }),
      });
    const list = await call("GET");
    expectResponse(list, 200);
    expect(list.json).toEqual({ globalVolumes: [], pagination: { nextCursor: null, hasNextPage: false } });
    expectResponse(await call("POST"), 501, {
      detail: "global volumes: cannot be created; this service runs serverless endpoints only",
    });
    for (const method of ["GET", "DELETE"])
      expectResponse(await call(method, "/gsb_1"), 404, { detail: "resource not found" });
    expectResponse(await call("PATCH", "/gsb_1"), 405);
  });

  test.each([
    ["GET", "/nosuch"],
    ["PUT", "/endpoints"],
    ["DELETE", "/endpoints"],
    ["GET", "/endpoints/a/b/c"],
    ["PATCH", "/containerregistryauth/some-id"],
  ])("%s %s is not a route of REST: 404", async (method, path) => {
    const response = await rig.rest(method, path);
    expectResponse(response, 404, { message: `route ${method} /v1${path} not found` });
  });

  test.each([
    ["/v1/endpoints/%", "address: must be a valid URL", (body: unknown) => at(body, "message")],
    ["/graphql%", "address: must be a valid URL", (body: unknown) => at(body, "errors", 0, "message")],
    ["/v2/%E0%A4%A/run", "address: must be a valid URL", (body: unknown) => at(body, "error")],
  ])("an invalid address (%#) is reported without the address and its query", async (path, fault, message) => {
    const response = await send("GET", `${rig.service.serverlessUrl}${path}?api_key=${key()}`);
    expectResponse(response, 400);
    expect(message(response.json)).toBe(fault);
    expect(response.text).not.toContain(key());
  });

  test.each(["/v1/endpoints/ID", "/v2/serverless/ID", "/v2/ID/health", "/v2/QUEUE/status/ID", "/load-balancers/ID/x"])(
    "%s: an id of any length is an unknown id, and requires the key",
    async (path) => {
      const queue = await rig.endpoint();
      for (const length of [501, 15_000]) {
        const url = `${rig.root}${path.replace("QUEUE", queue).replace("ID", "x".repeat(length))}`;
        expect((await send("GET", url)).status).toBe(401);
        expect((await send("GET", url, { key: key() })).status).toBe(404);
      }
    },
  );

  test("an unknown path is reported without its query", async () => {
    const response = await send("GET", `${rig.service.serverlessUrl}/nosuch?api_key=${key()}`);
    expectResponse(response, 404);
    expect(response.text).not.toContain(key());
  });

  test.each([
    ["GET", "/v2/templates/"],
    ["GET", "/v1/templates/"],
    ["POST", "/graphql/"],
    ["GET", "/v2/QUEUE/health/"],
  ])("%s %s: a path with a trailing slash does not exist", async (method, path) => {
    const url = `${rig.root}${path.replace("QUEUE", await rig.endpoint())}`;
    expect((await send(method, url, { key: key(), ...(method === "POST" && { json: {} }) })).status).toBe(404);
  });

  test("GET on the GraphQL address is not a route", async () => {
    const response = await send("GET", rig.service.graphqlUrl, { headers: { accept: "text/html" } });
    expectResponse(response, 404, { errors: [{ message: "route GET /graphql not found" }] });
  });

  test.each([["text/plain"], ["application/x-www-form-urlencoded"]])("a body sent as %s", async (type) => {
    const response = await send("POST", `${rig.service.baseUrl}/templates`, {
      key: key(),
      text: "name=x",
      headers: { "content-type": type },
    });
    expectResponse(response, 400, { message: "header Content-Type: must be application/json" });
  });

  test.each([["[]"], ["null"], ["7"], [""]])("the JSON body %j instead of an object", async (text) => {
    const response = await send("POST", `${rig.service.baseUrl}/networkvolumes`, { key: key(), text });
    expectResponse(response, 400, { message: "body: must be a JSON object" });
  });

  test.each([
    [
      "/v2/templates",
      { name: [], image: [] },
      ["name: [] is not allowed; must be a string", "image: [] is not allowed; must be a string"],
    ],
    ["/v2/account/secrets", { name: "s", value: [] }, ["value: must be a string"]],
    [
      "/v2/registries",
      { name: {}, username: "", password: [] },
      ["name: {} is not allowed; must be a string", "username: must not be empty", "password: must be a string"],
    ],
  ])("%s reports a value of the wrong type once: %j", async (path, json, errors) => {
    const response = await send("POST", `${rig.service.serverlessUrl}${path}`, { key: key(), json });
    expectResponse(response, 422);
    expect(at(response.json, "errors")).toEqual(errors);
  });

  test("several faults are named together", async () => {
    const response = await rig.rest("POST", "/networkvolumes", { name: "", size: 4001 });
    expectResponse(response, 400, {
      message:
        'name: "" is not allowed; must not be empty; size: 4001 is not allowed; must be a whole number from 0 to 4000; dataCenterId: is required and must be a string',
    });
  });

  test("an id with unusual characters is an unknown id", async () => {
    for (const id of ["%2F..%2F", "a%20b", "'--"]) {
      expectResponse(await rig.rest("GET", `/endpoints/${id}`), 404);
    }
  });
});

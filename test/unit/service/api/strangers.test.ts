import { describe, expect, test } from "vitest";
import { readWorkerToken } from "../../../../service/workers/tokens";
import { contract } from "../../../support/contract";
import { jobOperations } from "../../../support/job-api";
import { useSharedService } from "../../../support/local-service";
import { expectResponse, send } from "../../../support/raw-http";

const rig = await useSharedService();
const queue = await rig.jobsOn("acme/none:1", { workersMax: 0 });
const job = await queue.submit({});

const channelOperations = ["job-take/w", "job-take-batch/w", "job-stop/w", "ping/w"];
/** All routes with the id of an endpoint, written as ID. */
const routes: [method: string, path: string][] = [
  ...jobOperations.map(([method, path]): [string, string] => [method, `/v2/ID${path.replace("some-id", job)}`]),
  ...channelOperations.map((path): [string, string] => ["GET", `/v2/ID/${path}`]),
  ["POST", `/v2/ID/job-done/w/${job}`],
  ["POST", `/v2/ID/job-stream/w/${job}`],
  ...contract.routes
    .filter(({ path }) => path.startsWith("/v2/serverless/{"))
    .map(({ method, path }): [string, string] => [method, path.replace("{id}", "ID").replaceAll(/\{\w+\}/g, "x")]),
  ...["GET", "PATCH", "DELETE"].map((method): [string, string] => [method, "/v1/endpoints/ID"]),
  ...["GET", "POST"].map((method): [string, string] => [method, "/load-balancers/ID/any/path"]),
  ...["GET", "PUT"].map((method): [string, string] => [method, "/local/endpoints/ID/faults"]),
  // Paths and methods that do not exist.
  ...["/v2/ID", "/v2/ID/nosuch", "/v2/ID/run", "/v2/ID/status", "/v1/endpoints/ID/nosuch"].map(
    (path): [string, string] => ["GET", path],
  ),
  ["DELETE", "/v2/ID/run"],
  ["OPTIONS", "/v2/ID/run"],
];

describe("without a valid key", () => {
  test.each(routes)("%s %s: an existing endpoint is indistinguishable from a missing one", async (method, path) => {
    for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: "wrong" }]) {
      const [existing, missing] = await Promise.all(
        [queue.id, "a".repeat(queue.id.length)].map(async (id) => {
          const json = ["GET", "OPTIONS"].includes(method) ? undefined : {};
          const response = await send(method, `${rig.root}${path.replace("ID", id)}`, { headers, json });
          const { date: _date, ...rest } = Object.fromEntries(response.headers);
          return { status: response.status, headers: rest, text: response.text.replaceAll(id, "ID") };
        }),
      );
      expect(existing).toEqual(missing);
    }
  });
});

describe("with the key in either form", () => {
  test.each([
    ["GET", "/v2/ID"],
    ["GET", "/v2/ID/nosuch"],
    ["GET", "/v2/ID/run"],
    ["DELETE", "/v2/ID/run"],
    ["GET", "/v2/nosuch/path"],
  ])("%s %s does not exist", async (method, path) => {
    const [bearer, bare] = await Promise.all(
      ["Bearer ", ""].map(async (form) => {
        const headers = { authorization: form + rig.service.apiKey };
        const { status, text } = await send(method, `${rig.root}${path.replace("ID", queue.id)}`, { headers });
        return { status, text };
      }),
    );
    expect(bare).toEqual(bearer);
    expect(bare?.status).toBe(404);
  });

  test("REST v2 requires the form with Bearer, also for paths that do not exist", async () => {
    const headers = { authorization: rig.service.apiKey };
    expectResponse(await send("GET", `${rig.root}/v2/serverless/${queue.id}/nosuch`, { headers }), 401);
  });
});

/** Names of all parameters that any route reads. */
const parameters = [
  ...new Set(contract.routes.flatMap(({ query }) => Object.keys(Object(Object(query).properties)))),
  ...["wait", "ttl", "limit", "cursor", "t", "includeTemplate", "includeWorkers"],
  ...["includeEndpointBoundTemplates", "job_id", "status", "reason", "job_in_progress", "batch_size", "gpu"],
];
const gets = [...routes, ["GET", "/"], ["GET", "/v1/endpoints"], ["GET", "/v1/templates"], ["POST", "/graphql"]]
  .concat(contract.routes.filter(({ path }) => !path.includes("{")).map(({ method, path }) => [method, path]))
  .filter(([method, path = ""]) => (method === "GET" || path === "/graphql") && !/stream|job-(take|stop)/.test(path));

test.each(gets)("%s %s rejects or ignores repeated parameters", async (method = "", path = "") => {
  const isChannel = channelOperations.some((operation) => path.endsWith(operation));
  const authorization = isChannel ? readWorkerToken(rig.dataFolder, queue.id) : `Bearer ${rig.service.apiKey}`;
  const url = `${rig.root}${path.replace("ID", queue.id).replace("status-sync", "status")}`;
  const json = method === "POST" ? { query: "{ myself { id } }" } : undefined;
  const repeat = (names: string[]) =>
    send(method, `${url}?${names.map((name) => `${name}=a&${name}=b`).join("&")}`, {
      headers: { authorization: authorization ?? "" },
      json,
    });
  expect((await repeat(["api_key"])).status).toBeLessThan(500);
  // A rejected parameter could hide the others, so the request is sent again without it.
  const names = new Set(parameters);
  let response = await repeat([...names]);
  while ([400, 422].includes(response.status)) {
    const rejected = [...names].find((name) => new RegExp(`\\b${name}: `).test(response.text));
    expect(rejected, response.text).toBeDefined();
    names.delete(String(rejected));
    response = await repeat([...names]);
  }
  expect(response.status, response.text).toBeLessThan(500);
});

test("a ping with a repeated parameter is rejected with its name", async () => {
  const headers = { authorization: readWorkerToken(rig.dataFolder, queue.id) ?? "" };
  for (const name of ["job_id", "status", "reason"])
    expectResponse(await send("GET", `${rig.root}/v2/${queue.id}/ping/w?${name}=a&${name}=b`, { headers }), 400, {
      error: expect.stringContaining(`${name}: ["a","b"] is not allowed`),
    });
});

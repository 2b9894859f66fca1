import { beforeEach, describe, test } from "vitest";
import { expectResponse, send } from "../support/raw-http";
import { useTarget } from "../support/target";

const target = await useTarget({ retire: ["v1", "graphql"] });
const { apiKey: key } = target;
beforeEach((context) => target.localOnly(context, "the retirement is a setting of the local service"));

describe("After the retirement of REST v1 and GraphQL", () => {
  test.each([
    ["GET", "/endpoints"],
    ["POST", "/endpoints"],
    ["PATCH", "/templates/some-id"],
    ["DELETE", "/networkvolumes/some-id"],
    ["GET", "/openapi.json"],
    ["GET", ""],
  ])("REST v1: %s %s responds with 410, with and without a key", async (method, path) => {
    for (const keyOrNone of [key, undefined]) {
      const json = method === "POST" || method === "PATCH" ? {} : undefined;
      const response = await send(method, `${target.baseUrl}${path}`, { key: keyOrNone, json });
      expectResponse(response, 410, { message: "REST v1: is retired; use REST v2 (/v2)" });
    }
  });

  test.each(["GET", "POST"])("GraphQL: %s responds with 410, with and without a key", async (method) => {
    for (const keyOrNone of [key, undefined]) {
      const json = method === "POST" ? { query: "{ gpuTypes { id } }" } : undefined;
      const response = await send(method, target.graphqlUrl, { key: keyOrNone, json });
      expectResponse(response, 410, { data: null, errors: [{ message: "GraphQL: is retired; use REST v2 (/v2)" }] });
    }
  });

  test("REST v2 and the job API keep working", async () => {
    const call = (path: string) => send("GET", `${target.serverlessUrl}/v2${path}`, { key });
    expectResponse(await call("/serverless"), 200);
    expectResponse(await call("/nosuch/health"), 404);
  });
});

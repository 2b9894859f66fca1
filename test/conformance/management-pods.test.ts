import { describe, expect, test } from "vitest";
import { at, expectResponse, send, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { expectProblem, useRestV2 } from "./support/rest-v2";

const target = await useTarget();
const account = useAccount(target);
const { call } = useRestV2(target, account);

/** Fields that clients select. */
const podFields = `id containerDiskInGb costPerHr desiredStatus dockerArgs dockerId env gpuCount imageName lastStatusChange
  containerRegistryAuthId machineId memoryInGb name podType port ports uptimeSeconds vcpuCount volumeInGb volumeMountPath
  runtime { uptimeInSeconds ports { ip isIpPublic privatePort publicPort type } gpus { id } } machine { gpuDisplayName location }`;

describe("Pods, which this service does not support", () => {
  test("GET /v1/pods returns an empty list, POST 501, and every pod is unknown", async () => {
    const list = await account.rest("GET", "/pods?computeType=GPU");
    expectResponse(list, 200);
    expect(list.json).toEqual([]);
    const created = await account.rest("POST", "/pods", { name: "pod", imageName: "a:1" });
    expectResponse(created, 501);
    expect(stringAt(created, "message")).toBe("pods: cannot be created; this service runs serverless endpoints only");
    for (const method of ["GET", "PATCH", "DELETE"])
      expectResponse(await account.rest(method, "/pods/nosuch", method === "PATCH" ? {} : undefined), 404, {
        message: 'pod "nosuch" not found',
      });
  });

  test("GET /v2/pods returns an empty page, POST 501, and every pod is unknown", async () => {
    const list = await call("GET", "/pods");
    expectResponse(list, 200);
    expect(list.json).toEqual({ pods: [], pagination: { nextCursor: null, hasNextPage: false } });
    expectProblem(await call("POST", "/pods", { name: "pod" }), 501, /^pods: cannot be created/);
    for (const method of ["GET", "PATCH", "DELETE"])
      expectProblem(await call(method, "/pods/nosuch", method === "PATCH" ? {} : undefined), 404, "resource not found");
    expectProblem(await call("PUT", "/pods", {}), 405);
    expectProblem(await send("GET", `${target.serverlessUrl}/v2/pods`), 401, "missing bearer token");
  });

  test("myself { pods } is an empty list, and pod is null", async () => {
    const response = await account.graphql(
      `{ myself { pods { ${podFields} } } pod(input: { podId: "x" }) { ${podFields} } }`,
    );
    expectResponse(response, 200, { data: { myself: {}, pod: null } });
    expect(at(response.json, "data", "myself", "pods")).toEqual([]);
  });
});

describe("GraphQL API: creates of pods", () => {
  test.each([
    ["podFindAndDeployOnDemand", "PodFindAndDeployOnDemandInput!"],
    ["podRentInterruptable", "PodRentInterruptableInput!"],
    ["deployCpuPod", "deployCpuPodInput!"],
  ])("%s returns an error that names pods, with values in variables and in the document", async (name, type) => {
    const errors = [{ message: "pods: cannot be created; this service runs serverless endpoints only" }];
    const input = { cloudType: "ALL", gpuTypeId: "NVIDIA A40", gpuCount: 1, env: [{ key: "A", value: "1" }] };
    const create = `mutation ($input: ${type}) { ${name}(input: $input) { id machine { podHostId } } }`;
    expectResponse(await account.graphql(create, { input }), 200, { data: null, errors });
    const inline = `mutation { ${name}(input: { cloudType: ALL, gpuCount: 1, env: [{ key: "A", value: "1" }] }) { id } }`;
    expectResponse(await account.graphql(inline), 200, { data: null, errors });
  });
});

describe("GraphQL without a key", () => {
  const request = (query: string, tail = "") => send("POST", `${target.graphqlUrl}${tail}`, { json: { query } });

  test("the catalog requires no key, but rejects a wrong key", async () => {
    expectResponse(await request("{ gpuTypes { id } dataCenters { id } }"), 200, {
      data: { gpuTypes: expect.any(Array) },
    });
    expectResponse(await request("{ gpuTypes { id } }", "?api_key=wrong"), 401);
  });

  test.each([
    ["{ nosuch }", 'Cannot query field "nosuch" on type "Query".'],
    ["{ gpuTypes { nosuch } }", 'Cannot query field "nosuch" on type "GpuType".'],
    ["{ myself { nosuch } }", 'Cannot query field "nosuch" on type "User".'],
    ["mutation { nosuch }", 'Cannot query field "nosuch" on type "Mutation".'],
  ])("%s returns an unknown-field error", async (query, message) => {
    expectResponse(await request(query), 400, { data: null, errors: [{ message }] });
  });

  test.each([
    "{ gpuTypes { id } myself { id } }",
    "{ ...All } fragment All on Query { myself { id } }",
    "not a document",
    'mutation { deleteTemplate(templateName: "a") }',
  ])("%s returns 401", async (query) => {
    expectResponse(await request(query), 401);
  });
});

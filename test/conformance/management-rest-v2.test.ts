import { describe, expect, test } from "vitest";
import { at, expectResponse, type RawResponse, send, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { uniqueName, useAccount } from "./support/account";
import { expectProblem, useRestV2 } from "./support/rest-v2";

const target = await useTarget({ templateRelease: 0 });
const account = useAccount(target);
const { call, make, endpointBody, makers } = useRestV2(target, account);

const nouns: [path: string, member: string, body: () => Record<string, unknown>][] = [
  ["/serverless", "endpoints", endpointBody],
  ["/templates", "templates", () => ({ name: uniqueName("template"), image: "conformance/none:1" })],
  ["/network-volumes", "networkVolumes", () => ({ name: uniqueName("volume"), size: 10, dataCenter: "EU-RO-1" })],
  ["/registries", "registries", () => ({ name: uniqueName("registry"), username: "reader", password: "hush-hush" })],
];

describe("REST v2: requests and errors", () => {
  test.each(nouns)(
    "POST %s returns 201 with the object, GET 200, the list contains it under %s, DELETE 204 without a body",
    async (path, member, body) => {
      const created = await call("POST", path, body());
      expectResponse(created, 201);
      const id = stringAt(created, "id");
      const own = `${path}/${id}`;
      expectResponse(await call("GET", own), 200, { id });
      expect(at((await call("GET", path)).json, member)).toContainEqual(expect.objectContaining({ id }));
      const removed = await call("DELETE", own);
      expectResponse(removed, 204);
      expect(removed.text).toBe("");
      for (const method of path === "/registries" ? ["GET", "DELETE"] : ["GET", "DELETE", "PATCH"]) {
        const json = method === "PATCH" ? { name: "other" } : undefined;
        expectProblem(await call(method, own, json), 404, "resource not found");
      }
    },
  );

  test("a body that is not JSON is 400", async () => {
    const response = await send("POST", `${target.serverlessUrl}/v2/templates`, { key: target.apiKey, text: "{" });
    expectProblem(response, 400, /JSON/);
  });

  test("a text that is not valid Unicode or contains a null character, and a variable __proto__, are 422", async () => {
    for (const [path, , body] of nouns) {
      for (const [name, fault] of [
        ["a\0b", "name: must not contain a null character"],
        ["a\ud800b", "name: must not contain an unpaired surrogate"],
      ]) {
        const response = await call("POST", path, { ...body(), name });
        expectProblem(response, 422);
        expect(at(response.json, "errors")).toEqual([fault]);
      }
    }
    const text = '{"name":"proto","image":"conformance/none:1","env":{"__proto__":"1"}}';
    const response = await send("POST", `${target.serverlessUrl}/v2/templates`, { key: target.apiKey, text });
    expectProblem(response, 422);
    expect(at(response.json, "errors")).toEqual(["env.__proto__: is not allowed"]);
  });

  test("a missing or wrong key is 401", async () => {
    const url = `${target.serverlessUrl}/v2/serverless`;
    expectProblem(await send("GET", url), 401, "missing bearer token");
    expectProblem(await send("GET", url, { key: "wrong" }), 401);
    expectProblem(await send("GET", url, { headers: { authorization: target.apiKey } }), 401, "missing bearer token");
  });

  test("an unknown method is 405 with the allowed methods", async () => {
    const put = await call("PUT", "/serverless", {});
    expectProblem(put, 405, "The requested method is not allowed for this path.");
    expect(put.headers.get("allow")?.split(", ")).toEqual(expect.arrayContaining(["GET", "POST"]));
    const patch = await call("PATCH", "/registries/x", {});
    expectProblem(patch, 405);
    expect(patch.headers.get("allow")?.split(", ")).toEqual(expect.arrayContaining(["GET", "DELETE"]));
    expectProblem(await call("OPTIONS", "/templates/x"), 405);
    const head = await send("HEAD", `${target.serverlessUrl}/v2/templates`, { key: target.apiKey });
    expectResponse(head, 405);
    expect(head.headers.get("allow")?.split(", ").sort()).toEqual(["GET", "POST"]);
  });

  test("an empty PATCH of a network volume is 422; the same size is accepted", async () => {
    const id = await make("/network-volumes", { name: uniqueName("volume"), size: 10, dataCenter: "EU-RO-1" });
    expectProblem(await call("PATCH", `/network-volumes/${id}`, {}), 422);
    expectResponse(await call("PATCH", `/network-volumes/${id}`, { size: 10 }), 200, { size: 10 });
  });

  test("no message contains the password of registry credentials", async () => {
    const response = await call("POST", "/registries", { name: uniqueName("registry"), username: "u", password: 7001 });
    expectProblem(response, 422);
    expect(response.text).not.toContain("7001");
  });

  test("each response states the remaining requests of the user's rate limit", async (context) => {
    target.freezeClock(context);
    const responses: RawResponse[] = [];
    for (const path of ["/registries", "/templates/nosuch", "/catalog/nosuch", "/account"])
      responses.push(await call("GET", path));
    for (const { headers } of responses) {
      expect(headers.get("ratelimit-policy")).toMatch(
        /^"minute";q=\d+;w=60, "hour";q=\d+;w=3600, "day";q=\d+;w=86400$/,
      );
      expect(headers.get("ratelimit")).toMatch(/^"minute";r=\d+;t=\d+, "hour";r=\d+;t=\d+, "day";r=\d+;t=\d+$/);
    }
    const remaining = responses.map(({ headers }) => Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]));
    expect(remaining).toEqual([...new Set(remaining)].sort((some, other) => other - some));
  });
});

describe("REST v2: delegations of registries", () => {
  const path = "/registries/delegations";
  const resource = "arn:aws:ecr:us-east-1:123456789012:repository/team/worker";

  test("are created for a repository, listed and deleted", async () => {
    const created = await call("POST", path, { resource: `${resource}:v2`, name: "team" });
    const repository = { repository: "team/worker", tag: "v2", awsRegion: "us-east-1", awsUser: "123456789012" };
    expectResponse(created, 201, { name: "team", ...repository });
    const other = await call("POST", path, { resource });
    expectResponse(other, 201, { name: null, tag: "latest" });
    expect(at((await call("GET", path)).json, "delegations")).toEqual(
      expect.arrayContaining([created.json, other.json]),
    );
    const own = `${path}/${stringAt(created, "id")}`;
    expectResponse(await call("DELETE", own), 204);
    expectProblem(await call("DELETE", own), 404, "resource not found");
    expect((await call("GET", path)).text).not.toContain(stringAt(created, "id"));
    await call("DELETE", `${path}/${stringAt(other, "id")}`);
  });

  test("require a resource that is the ARN of a repository", async () => {
    expectProblem(await call("POST", path, {}), 422);
    expectProblem(await call("POST", path, { resource, bogus: 1 }), 422);
    for (const wrong of ["", "team/worker", "arn:aws:s3:::bucket", `${resource}:`])
      expectProblem(await call("POST", path, { resource: wrong }), 400, /^resource: .* must be arn:aws:ecr:/);
  });

  test("support no other methods", async () => {
    for (const [method, own, allow] of [
      ["PATCH", path, ["GET", "POST"]],
      ["GET", `${path}/x`, ["DELETE"]],
    ] as const) {
      const response = await call(method, own, method === "PATCH" ? {} : undefined);
      expectProblem(response, 405);
      expect(response.headers.get("allow")?.split(", ")).toEqual(expect.arrayContaining([...allow]));
    }
  });
});

describe("REST v2: shared paths with the job API", () => {
  test("its reserved words are not endpoint ids, and their job paths are 404 as problems", async () => {
    for (const word of ["serverless", "templates", "network-volumes", "registries", "catalog"]) {
      // Some of these routes interpret `run` as an id.
      expectResponse(await call("POST", `/${word}/run`, { input: {} }), [404, 405]);
      expectProblem(await call("GET", `/${word}/status/x`), 404);
    }
    const id = await make("/serverless", endpointBody());
    expect(id).toMatch(/^[a-z0-9]{14}$/);
  });

  test("requestUrls are the job API's addresses of the endpoint", async () => {
    const id = await make("/serverless", endpointBody());
    const urls = at((await call("GET", `/serverless/${id}`)).json, "requestUrls");
    const root = `${target.serverlessUrl}/v2/${id}`;
    expect(urls).toMatchObject({
      run: `${root}/run`,
      runSync: `${root}/runsync`,
      status: `${root}/status/{job_id}`,
      stream: `${root}/stream/{job_id}`,
      cancel: `${root}/cancel/{job_id}`,
      retry: `${root}/retry/{job_id}`,
      purgeQueue: `${root}/purge-queue`,
      health: `${root}/health`,
    });
    expectResponse(await call("GET", `/${id}/health`), 200, { jobs: { inQueue: 0 } });
    const job = await send("POST", `${root}/run`, { key: target.apiKey, json: { input: {} } });
    expectResponse(job, 200, { status: "IN_QUEUE" });
  });
});

describe.each(makers)("REST v2: objects created by $dialect", (maker) => {
  test("an endpoint is listed, read, updated and deleted", async () => {
    const id = await maker.endpoint({ image: "conformance/first:1" });
    const own = `/serverless/${id}`;
    const listed = await call("GET", "/serverless");
    expect(at(listed.json, "endpoints")).toContainEqual(expect.objectContaining({ id, image: "conformance/first:1" }));
    expectResponse(await call("GET", own), 200, { id, type: "QUEUE", gpu: { pools: expect.any(Array), count: 1 } });
    const changed = await call("PATCH", own, { image: "conformance/second:2", workers: { idleTimeout: 33 } });
    expectResponse(changed, 200, { id, image: "conformance/second:2", workers: { min: 0, max: 0, idleTimeout: 33 } });
    const v1 = await account.rest("GET", `/endpoints/${id}?includeTemplate=true`);
    expectResponse(v1, 200, { idleTimeout: 33, template: { imageName: "conformance/second:2" } });
    expectResponse(await call("DELETE", own), 204);
    expectResponse(await account.rest("GET", `/endpoints/${id}`), 404);
  });

  test("a template is listed, read, updated and deleted by its id", async () => {
    const id = await maker.template({ image: "conformance/first:1" });
    const own = `/templates/${id}`;
    expect(at((await call("GET", "/templates")).json, "templates")).toContainEqual(expect.objectContaining({ id }));
    expectResponse(await call("GET", own), 200, { image: "conformance/first:1", serverless: true, env: {} });
    const changes = { image: "conformance/next:2", args: "python h.py", env: { A: "1" }, ports: ["80/http"], disk: 7 };
    expectResponse(await call("PATCH", own, changes), 200, changes);
    expectResponse(await account.rest("GET", own), 200, {
      imageName: changes.image,
      dockerStartCmd: ["python", "h.py"],
      containerDiskInGb: 7,
      env: changes.env,
      ports: changes.ports,
    });
    expectResponse(await call("DELETE", own), 204);
    expectResponse(await account.rest("GET", own), 404);
  });

  test("a network volume is listed, read, enlarged and deleted", async () => {
    const id = await maker.volume();
    const own = `/network-volumes/${id}`;
    const record = { id, size: 20, dataCenter: "EU-RO-1", type: "STANDARD" };
    expect(at((await call("GET", "/network-volumes")).json, "networkVolumes")).toContainEqual(
      expect.objectContaining(record),
    );
    expectResponse(await call("PATCH", own, { size: 30, name: "grown" }), 200, { ...record, size: 30, name: "grown" });
    expectProblem(await call("PATCH", own, { size: 20 }), 400, /cannot shrink/);
    expectResponse(await account.rest("GET", `/networkvolumes/${id}`), 200, { size: 30, name: "grown" });
    expectResponse(await call("DELETE", own), 204);
  });

  test("registry credentials contain id and name only; their deletion removes them from templates", async () => {
    const id = await maker.registry();
    const response = await call("GET", `/registries/${id}`);
    expect(Object.keys(response.json ?? {}).sort()).toEqual(["id", "name"]);
    const template = await make("/templates", {
      name: uniqueName("template"),
      image: "conformance/none:1",
      registry: id,
    });
    expectResponse(await call("GET", `/templates/${template}`), 200, { registry: id });
    expectResponse(await call("DELETE", `/registries/${id}`), 204);
    expectResponse(await call("GET", `/templates/${template}`), 200, { registry: null });
  });
});

import { describe, expect, test } from "vitest";
import { at, expectAnswer, send, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { uniqueName, useAccount } from "./support/account";
import { expectProblem, useRestV2 } from "./support/rest-v2";

const target = await useTarget({ templateRelease: 0 });
const account = useAccount(target);
const { call, make, endpointBody, makers } = useRestV2(target, account);

const nouns = ["/serverless", "/templates", "/network-volumes", "/registries"] as const;
const bodies: Record<(typeof nouns)[number], () => Record<string, unknown>> = {
  "/serverless": () => endpointBody(),
  "/templates": () => ({ name: uniqueName("template"), image: "conformance/none:1" }),
  "/network-volumes": () => ({ name: uniqueName("volume"), size: 10, dataCenter: "EU-RO-1" }),
  "/registries": () => ({ name: uniqueName("registry"), username: "reader", password: "hush-hush" }),
};

describe("REST v2: requests and errors", () => {
  test.each(nouns)("POST %s answers 201 with the object, GET 200, DELETE 204 without a body", async (path) => {
    const made = await call("POST", path, bodies[path]());
    expectAnswer(made, 201);
    const own = `${path}/${stringAt(made, "id")}`;
    expectAnswer(await call("GET", own), 200, { id: stringAt(made, "id") });
    const removed = await call("DELETE", own);
    expectAnswer(removed, 204);
    expect(removed.text).toBe("");
    expectProblem(await call("GET", own), 404, "resource not found");
  });

  test.each([
    ["/serverless", "endpoints"],
    ["/templates", "templates"],
    ["/network-volumes", "networkVolumes"],
    ["/registries", "registries"],
  ])("GET %s answers a list under %s", async (path, member) => {
    const answer = await call("GET", path);
    expectAnswer(answer, 200);
    expect(at(answer.json, member)).toBeInstanceOf(Array);
  });

  test.each(nouns)("%s of an unknown id is 404, of a DELETE too", async (path) => {
    for (const method of path === "/registries" ? ["GET", "DELETE"] : ["GET", "DELETE", "PATCH"]) {
      expectProblem(
        await call(method, `${path}/nosuch`, method === "PATCH" ? {} : undefined),
        404,
        "resource not found",
      );
    }
  });

  test.each(nouns)("a key that %s does not have is 422 and named", async (path) => {
    const answer = await call("POST", path, { ...bodies[path](), bogus: 1 });
    expectProblem(answer, 422, "Request validation failed.");
    expect(at(answer.json, "errors")).toEqual(["bogus: unknown property"]);
    if (path === "/registries") return;
    const id = await make(path, bodies[path]());
    expectProblem(await call("PATCH", `${path}/${id}`, { bogus: 1 }), 422);
  });

  test.each(nouns)("%s without its name is 422 and names it", async (path) => {
    const answer = await call("POST", path, { ...bodies[path](), name: undefined });
    expectProblem(answer, 422);
    expect(at(answer.json, "errors")).toEqual([expect.stringMatching(/^name: is required/)]);
  });

  test("a body that is no JSON is 400", async () => {
    const answer = await send("POST", `${target.serverlessUrl}/v2/templates`, { key: target.apiKey, text: "{" });
    expectProblem(answer, 400, /JSON/);
  });

  test("a missing key is 401, a wrong one too", async () => {
    const url = `${target.serverlessUrl}/v2/serverless`;
    expectProblem(await send("GET", url), 401, "missing bearer token");
    expectProblem(await send("GET", url, { key: "wrong" }), 401);
    expectProblem(await send("GET", url, { headers: { authorization: target.apiKey } }), 401, "missing bearer token");
  });

  test("a path or method that is not there is 404 in the same form", async () => {
    expectProblem(await call("PUT", "/serverless", {}), 404);
    expectProblem(await call("GET", "/catalog/nothing"), 404);
    expectProblem(await call("PATCH", "/registries/x", {}), 404);
  });

  test("no message shows the password of registry credentials", async () => {
    const answer = await call("POST", "/registries", { name: uniqueName("registry"), username: "u", password: 7001 });
    expectProblem(answer, 422);
    expect(answer.text).not.toContain("7001");
  });

  test("each answer says what is left of the user's rate", async (context) => {
    target.hold(context);
    const answers = [await call("GET", "/registries"), await call("GET", "/templates/nosuch")];
    for (const { headers } of answers) {
      expect(headers.get("ratelimit-policy")).toMatch(/^"\w+";q=\d+;w=60$/);
      expect(headers.get("ratelimit")).toMatch(/^"\w+";r=\d+;t=\d+$/);
    }
    const [first = 0, second = 0] = answers.map(({ headers }) =>
      Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]),
    );
    expect(second).toBeLessThan(first);
  });
});

describe("REST v2: beside the job API", () => {
  test("its words are no endpoint ids, and their job paths are 404 as problems", async () => {
    for (const word of ["serverless", "templates", "network-volumes", "registries", "catalog"]) {
      expectProblem(await call("POST", `/${word}/run`, { input: {} }), 404);
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
      ...{ run: `${root}/run`, runSync: `${root}/runsync`, status: `${root}/status`, stream: `${root}/stream` },
      ...{
        cancel: `${root}/cancel`,
        retry: `${root}/retry`,
        purgeQueue: `${root}/purge-queue`,
        health: `${root}/health`,
      },
    });
    expectAnswer(await call("GET", `/${id}/health`), 200, { jobs: { inQueue: 0 } });
    const job = await send("POST", `${root}/run`, { key: target.apiKey, json: { input: {} } });
    expectAnswer(job, 200, { status: "IN_QUEUE" });
  });
});

describe.each(makers)("REST v2: objects made by $dialect", (maker) => {
  test("an endpoint is listed, shown, changed and deleted", async () => {
    const id = await maker.endpoint({ image: "conformance/first:1" });
    const own = `/serverless/${id}`;
    const listed = await call("GET", "/serverless");
    expect(at(listed.json, "endpoints")).toContainEqual(expect.objectContaining({ id, image: "conformance/first:1" }));
    expectAnswer(await call("GET", own), 200, { id, type: "QUEUE", gpu: { pools: expect.any(Array), count: 1 } });
    const changed = await call("PATCH", own, { image: "conformance/second:2", workers: { idleTimeout: 33 } });
    expectAnswer(changed, 200, { id, image: "conformance/second:2", workers: { min: 0, max: 0, idleTimeout: 33 } });
    const v1 = await account.rest("GET", `/endpoints/${id}?includeTemplate=true`);
    expectAnswer(v1, 200, { idleTimeout: 33, template: { imageName: "conformance/second:2" } });
    expectAnswer(await call("DELETE", own), 204);
    expectAnswer(await account.rest("GET", `/endpoints/${id}`), 404);
  });

  test("a template is listed, shown, changed and deleted by its id", async () => {
    const id = await maker.template({ image: "conformance/first:1" });
    const own = `/templates/${id}`;
    expect(at((await call("GET", "/templates")).json, "templates")).toContainEqual(expect.objectContaining({ id }));
    expectAnswer(await call("GET", own), 200, { image: "conformance/first:1", serverless: true, env: {}, ports: [] });
    const changes = { image: "conformance/next:2", args: "python h.py", env: { A: "1" }, ports: ["80/http"], disk: 7 };
    expectAnswer(await call("PATCH", own, changes), 200, changes);
    expectAnswer(await account.rest("GET", own), 200, {
      ...{ imageName: changes.image, dockerStartCmd: ["python", "h.py"], containerDiskInGb: 7 },
      ...{ env: changes.env, ports: changes.ports },
    });
    expectAnswer(await call("DELETE", own), 204);
    expectAnswer(await account.rest("GET", own), 404);
  });

  test("a network volume is listed, shown, grown and deleted", async () => {
    const id = await maker.volume();
    const own = `/network-volumes/${id}`;
    const record = { id, size: 20, dataCenter: "EU-RO-1", type: "STANDARD" };
    expect(at((await call("GET", "/network-volumes")).json, "networkVolumes")).toContainEqual(
      expect.objectContaining(record),
    );
    expectAnswer(await call("PATCH", own, { size: 30, name: "grown" }), 200, { ...record, size: 30, name: "grown" });
    expectProblem(await call("PATCH", own, { size: 20 }), 400, /grows/);
    expectAnswer(await account.rest("GET", `/networkvolumes/${id}`), 200, { size: 30, name: "grown" });
    expectAnswer(await call("DELETE", own), 204);
  });

  test("registry credentials show id and name only; templates silently lose them", async () => {
    const id = await maker.registry();
    const answer = await call("GET", `/registries/${id}`);
    expect(Object.keys(answer.json ?? {}).sort()).toEqual(["id", "name"]);
    const template = await make("/templates", {
      name: uniqueName("template"),
      image: "conformance/none:1",
      registry: id,
    });
    expectAnswer(await call("GET", `/templates/${template}`), 200, { registry: id });
    expectAnswer(await call("DELETE", `/registries/${id}`), 204);
    expectAnswer(await call("GET", `/templates/${template}`), 200, { registry: null });
  });
});

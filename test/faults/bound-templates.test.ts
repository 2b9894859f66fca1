import type { Dialect } from "serverless-compute-api";
import { describe, expect, onTestFinished, test } from "vitest";
import { kinds } from "../../provider/resources";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { expectResponse, stringAt } from "../support/raw-http";

const bench = await useLifecycleBench();
const { Template } = kinds;

let count = 0;
/** A template named like the resource "chat<n>-dev", used by an unmanaged endpoint. */
async function templateInUse(dialect: Dialect) {
  const name = `chat${count++}-dev`;
  const inputs = Template.check({}, { imageName: `a:${count}` }, naming(name), [], dialect).inputs;
  const { id, outputs } = await Template.create(inputs, bench.context({}, dialect));
  const user = await bench.rest("POST", "/endpoints", { name: "somebody-else", templateId: id, workersMax: 0 });
  bench.drainRequests();
  return { id, name, inputs, outputs, user: stringAt(user, "id") };
}

describe("a template used by a REST v1 endpoint", () => {
  test("is not deleted by REST v1: the delete fails immediately and names the endpoint", async () => {
    const { id, name, outputs, user } = await templateInUse("v1");
    const context = bench.context({}, "v1");
    // Only waits advance the clock.
    onTestFinished(bench.clock.freeze());
    const start = context.clock.now();
    await expect(Template.delete(id, outputs, context)).rejects.toThrow(
      `template "${name}" cannot be deleted: endpoint "somebody-else" (${user}) still uses it and is not deleted by this deployment.`,
    );
    // Only a second lookup, because a list may be outdated.
    expect(context.clock.now() - start).toBeLessThan(3000);
    expect(bench.drainRequests().filter((request) => request.startsWith("DELETE")).length).toBeLessThanOrEqual(1);
  });

  test("is not deleted while several endpoints use it, which the message lists", async () => {
    const { id, name, outputs, user } = await templateInUse("v1");
    const other = await bench.create("/endpoints", { name: "another", templateId: id, workersMax: 0 });
    await expect(Template.delete(id, outputs, bench.context({}, "v1"))).rejects.toThrow(
      `template "${name}" cannot be deleted: endpoint "somebody-else" (${user}), endpoint "another" (${other}) still use it and are not deleted by this deployment.`,
    );
  });

  test("is not deleted by REST v2: the delete waits for the release, then names what may use it", async () => {
    const { id, name, outputs } = await templateInUse("v2");
    await expect(Template.delete(id, outputs, bench.context({}, "v2"))).rejects.toThrow(
      `template "${name}" is still in use after 150 s: no endpoint uses it, but a pod may, or an endpoint that was created ` +
        "with its id, which REST v2 does not show. It stays in the state",
    );
  });

  test("is deleted by REST v2 once the endpoint uses another template", async () => {
    const { id, name, outputs, user } = await templateInUse("v2");
    const otherTemplate = await templateInUse("v2");
    expectResponse(await bench.rest("PATCH", `/endpoints/${user}`, { templateId: otherTemplate.id }), 200);
    const context = bench.context({}, "v2");
    await Template.delete(id, outputs, context);
    expect(context.progressMessages.at(-1)).toMatch(
      new RegExp(`^the service released template "${name}" after \\d+ s$`),
    );
    expect((await bench.rest("GET", `/templates/${id}`)).status).toBe(404);
  });
});

test("a REST v1 endpoint receives a copy of its template before REST v2 deletes the template", async () => {
  const { id: templateId, user } = await templateInUse("v1");
  const { ServerlessEndpoint } = kinds;
  const { inputs } = ServerlessEndpoint.check({}, { templateId, workersMax: 0 }, naming("mine"), [], "v1");
  const { id, outputs } = await ServerlessEndpoint.create(inputs, bench.context({}, "v1"));
  bench.drainRequests();
  bench.proxy.clear();
  await ServerlessEndpoint.delete(id, outputs, bench.context({}, "v2"));
  const changes = bench.proxy.requests.filter(({ method }) => method !== "GET");
  expect(changes.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `PATCH /v2/serverless/${id}`,
    `DELETE /v2/serverless/${id}`,
  ]);
  expect((await bench.rest("GET", `/templates/${templateId}`)).status).toBe(200);
  expect((await bench.rest("GET", `/endpoints/${user}`)).json).toMatchObject({ templateId });
});

describe("with REST v2, in one deployment", () => {
  const { ServerlessEndpoint } = kinds;

  /** A template and an endpoint with its copy. */
  async function createPair() {
    const name = `pair${count++}-dev`;
    const template = await Template.create(
      Template.check({}, { imageName: "a:1" }, naming(name), [], "v2").inputs,
      bench.context({}, "v2"),
    );
    const { inputs } = ServerlessEndpoint.check({}, { templateId: template.id }, naming(name), [], "v2");
    return { template, endpoint: await ServerlessEndpoint.create(inputs, bench.context({}, "v2")) };
  }

  test("the deletes of endpoints and their templates share one list, and wait for nothing", async () => {
    const pairs = [await createPair(), await createPair(), await createPair()];
    bench.drainRequests();
    onTestFinished(bench.clock.freeze());
    const context = bench.context({}, "v2");
    const start = context.clock.now();
    for (const { template, endpoint } of pairs) {
      await ServerlessEndpoint.delete(endpoint.id, endpoint.outputs, context);
      await Template.delete(template.id, template.outputs, context);
    }
    expect(context.clock.now() - start).toBe(0);
    expect(bench.drainRequests()).toEqual([
      "GET /v2/serverless",
      "GET /v2/catalog/gpus",
      ...pairs.flatMap(({ template, endpoint }) => [
        `DELETE /v2/serverless/${endpoint.id}`,
        `DELETE /v2/templates/${template.id}`,
      ]),
    ]);
  });

  test("a delete that failed is followed by a new list", async () => {
    const { template, endpoint } = await createPair();
    const context = bench.context({}, "v2");
    bench.proxy.inject({ method: "DELETE" }, { kind: "status", status: 403 }, 1);
    await expect(ServerlessEndpoint.delete(endpoint.id, endpoint.outputs, context)).rejects.toThrow("fault 403");
    bench.drainRequests();
    await expect(Template.delete(template.id, template.outputs, context)).rejects.toThrow("still uses it");
    expect(bench.drainRequests().filter((request) => request === "GET /v2/serverless")).toHaveLength(2);
  });

  test("a template that no longer exists counts as deleted although an endpoint has its copy", async () => {
    const { template } = await createPair();
    await bench.context({}, "v2").clients.management.deleteTemplate(template.id);
    await Template.delete(template.id, template.outputs, bench.context({}, "v2"));
  });
});

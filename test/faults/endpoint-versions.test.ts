import type { Dialect } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import type { Properties } from "../../provider/engine/values";
import { functions } from "../../provider/functions/functions";
import { kinds } from "../../provider/resources";
import { restPaths } from "../support/dialect";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { expectResponse } from "../support/raw-http";

const bench = await useLifecycleBench({ templateRelease: 0 });
const { ServerlessEndpoint } = kinds;

let count = 0;
/** Creates an unmanaged endpoint whose template changed twice, so that it has version 3. */
async function createUnmanagedEndpoint() {
  const name = `hand${count++}`;
  const template = (tag: number) => ({ name: `${name}-t`, imageName: `a:${tag}`, isServerless: true });
  const templateId = await bench.create("/templates", template(1));
  const id = await bench.create("/endpoints", { name, templateId, workersMax: 0 });
  for (const tag of [2, 3]) expectResponse(await bench.rest("PATCH", `/templates/${templateId}`, template(tag)), 200);
  return { id, name, templateId };
}

/** REST v2 returns the version of an endpoint only with its releases. */
describe.each<Dialect>(["v1", "v2"])("the version of an endpoint by REST %s", (dialect) => {
  const context = () => bench.context({}, dialect);
  const inputsOf = (inputs: Properties, name?: string) => ServerlessEndpoint.check({}, inputs, naming(name)).inputs;

  test("is 1 for a new endpoint, even if the response to its create is lost", async () => {
    const { templateId } = await createUnmanagedEndpoint();
    const created = await ServerlessEndpoint.create(inputsOf({ templateId, workersMax: 0 }, `made${count}`), context());
    bench.proxy.inject({ method: "POST", path: /endpoints|serverless/ }, { kind: "dropResponse" });
    const found = await ServerlessEndpoint.create(inputsOf({ templateId, workersMax: 0 }, `found${count}`), context());
    expect(bench.proxy.pendingFaults()).toBe(0);
    expect([created.outputs["version"], found.outputs["version"]]).toEqual([1, 1]);
  });

  test("is the service's version for adopted, imported and looked-up endpoints; a lookup also returns the image", async () => {
    const { id, name, templateId } = await createUnmanagedEndpoint();
    const imported = await ServerlessEndpoint.read(id, {}, context());
    expect(imported?.outputs["version"]).toBe(3);
    expect(await functions.getServerlessEndpoint.run({ name }, context())).toMatchObject({
      id,
      version: 3,
      imageName: "a:3",
    });
    const inputs = inputsOf({ name, templateId, workersMax: 0, adoptExisting: true });
    expect((await ServerlessEndpoint.create(inputs, context())).outputs["version"]).toBe(3);
  });

  test("requires no additional request in a refresh", async () => {
    const { templateId } = await createUnmanagedEndpoint();
    const inputs = inputsOf({ templateId, workersMax: 0, computeType: "CPU" }, `refreshed${count}`);
    const { id, outputs } = await ServerlessEndpoint.create(inputs, context());
    bench.drainRequests();
    const readResult = await ServerlessEndpoint.read(id, outputs, context());
    expect(readResult?.outputs["version"]).toBe(1);
    expect(bench.drainRequests()).not.toContain(`GET ${restPaths.endpoints}/${id}/releases`);
  });
});

test("a lookup of a load balancer returns the address of its requests", async () => {
  const { templateId } = await createUnmanagedEndpoint();
  const inputs = ServerlessEndpoint.check(
    {},
    { templateId, type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT", workersMax: 0 },
    naming("lb"),
  ).inputs;
  const { id, outputs } = await ServerlessEndpoint.create(inputs, bench.context({}, "v2"));
  expect(outputs["url"]).toMatch(new RegExp(`/load-balancers/${id}$`));
  expect(await functions.getServerlessEndpoint.run({ id }, bench.context({}, "v2"))).toMatchObject({
    url: outputs["url"],
  });
});

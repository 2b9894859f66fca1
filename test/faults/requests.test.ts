import { describe, expect, test } from "vitest";
import type { Properties } from "../../provider/engine/values";
import type { Context } from "../../provider/framework/contract";
import { kinds } from "../../provider/resources";
import { dialect } from "../support/dialect";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming, uniqueNaming } from "../support/naming";
import { type ObjectCase, objectCases } from "./support/kinds";

const bench = await useLifecycleBench({ templateRelease: 0, deleteNeedsScaleDown: true, rateLimits: "off" });
const cases = await objectCases(bench);

interface Deployed {
  kind: ObjectCase["kind"];
  id: string;
  outputs: Properties;
}

/** Creates `count` objects of a kind concurrently. */
function createMany(objectCase: ObjectCase, count: number, context: Context): Promise<Deployed[]> {
  const lifecycle = kinds[objectCase.kind];
  const created = Array.from({ length: count }, async (_, index) => {
    const inputs = lifecycle.check({}, objectCase.news, uniqueNaming(`n${index}-dev`)).inputs;
    return { kind: objectCase.kind, ...(await lifecycle.create(inputs, context)) };
  });
  return Promise.all(created);
}

describe.each(cases)("requests for 10 of $kind", (objectCase) => {
  test("sends one per create, none without a change, one list per refresh, and one per delete with a list for all", async () => {
    const lifecycle = kinds[objectCase.kind];
    bench.drainRequests();
    const created = await createMany(objectCase, 10, bench.context());
    // REST v2 also requires the GPU catalog and the settings of the template, once each.
    expect(bench.drainRequests()).toHaveLength(dialect === "v2" && objectCase.kind === "ServerlessEndpoint" ? 12 : 10);

    for (const { outputs } of created)
      expect(
        lifecycle.diff(outputs, lifecycle.check(outputs, objectCase.news, naming(String(outputs["name"]))).inputs),
      ).toEqual([]);
    expect(bench.drainRequests()).toEqual([]);

    const context = bench.context();
    await Promise.all(created.map(({ id, outputs }) => lifecycle.read(id, outputs, context)));
    // For endpoints, REST v2 requires the catalog and the templates of their copies.
    expect(bench.drainRequests()).toHaveLength(dialect === "v2" && objectCase.kind === "ServerlessEndpoint" ? 3 : 1);

    const deletes = bench.context();
    await Promise.all(created.map(({ id, outputs }) => lifecycle.delete(id, outputs, deletes)));
    // One list of endpoints shows whether they use the templates. GraphQL deletes templates by name, so it reads each name first. REST v2
    // deletes the template of an endpoint that REST v1 created, so one list shows the endpoints' templates, with the GPU catalog.
    const more: Partial<Record<ObjectCase["kind"], number>> =
      dialect === "v2" ? { Template: 1, ServerlessEndpoint: 2 } : { Template: 11 };
    expect(bench.drainRequests()).toHaveLength(10 + (more[objectCase.kind] ?? 0));
  });
});

test("a refresh of 60 resources of four kinds in waves of 8 sends 4 requests, and v2 reads the catalog once", async () => {
  const four = cases.filter(({ kind }) => kind !== "ContainerRegistryAuth");
  const created: Deployed[] = [];
  for (const objectCase of four) created.push(...(await createMany(objectCase, 15, bench.context())));
  bench.drainRequests();
  const context = bench.context();
  const mixed = Array.from({ length: 15 }, (_, index) =>
    four.flatMap((__, kind) => created[kind * 15 + index] ?? []),
  ).flat();
  for (let start = 0; start < mixed.length; start += 8) {
    await Promise.all(
      mixed.slice(start, start + 8).map(({ kind, id, outputs }) => kinds[kind].read(id, outputs, context)),
    );
  }
  expect(mixed).toHaveLength(60);
  const requests = bench.drainRequests();
  const catalog = requests.filter((request) => request === "GET /v2/catalog/gpus").length;
  expect(catalog).toBe(dialect === "v2" ? 1 : 0);
  expect(requests.length - catalog).toBeLessThanOrEqual(4);
  for (const { kind, id, outputs } of [...mixed].reverse()) await kinds[kind].delete(id, outputs, context);
});

test("a refresh of CPU endpoints reads no catalog, and sends one list with v1, or two with v2", async () => {
  const endpoint = cases.find(({ kind }) => kind === "ServerlessEndpoint");
  if (!endpoint) throw new Error("unreachable");
  const { gpuTypeIds: _, ...news } = endpoint.news;
  const created = await createMany({ ...endpoint, news: { ...news, computeType: "CPU" } }, 5, bench.context());
  bench.drainRequests();
  const context = bench.context();
  await Promise.all(created.map(({ id, outputs }) => kinds.ServerlessEndpoint.read(id, outputs, context)));
  const lists = { v1: ["GET /v1/endpoints"], v2: ["GET /v2/serverless", "GET /v2/templates"] };
  expect(bench.drainRequests()).toEqual(lists[dialect]);
  for (const { id, outputs } of created) await kinds.ServerlessEndpoint.delete(id, outputs, bench.context());
});

test("an update sends one request, or two for a template in v1, because unchanged fields are read first", async () => {
  for (const objectCase of cases) {
    const lifecycle = kinds[objectCase.kind];
    const [created] = await createMany(objectCase, 1, bench.context());
    if (!created) throw new Error("unreachable");
    const change: Partial<Record<ObjectCase["kind"], Properties>> = {
      Template: dialect === "v1" ? { readme: "x" } : { startSsh: false },
      ServerlessEndpoint: { workersMax: 1 },
      NetworkVolume: { size: 99 },
      Secret: { value: "wwww" },
      // REST v2 replaces credentials instead.
      ...(dialect === "v1" ? { ContainerRegistryAuth: { password: "qqqq" } } : {}),
    };
    if (!change[objectCase.kind]) continue;
    bench.drainRequests();
    const news = lifecycle.check(
      created.outputs,
      { ...objectCase.news, ...change[objectCase.kind] },
      naming("n0-dev"),
    ).inputs;
    await lifecycle.update(created.id, created.outputs, news, bench.context());
    expect(bench.drainRequests()).toHaveLength(objectCase.kind === "Template" && dialect === "v1" ? 2 : 1);
    await lifecycle.delete(created.id, created.outputs, bench.context());
  }
});

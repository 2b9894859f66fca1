import type { Dialect } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import type { Properties } from "../../provider/engine/values";
import { kinds } from "../../provider/resources";
import { propertiesIn, useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { expectResponse, stringAt } from "../support/raw-http";

const bench = await useLifecycleBench({ templateRelease: 0 });

interface Deployed {
  kind: keyof typeof kinds;
  id: string;
  /** Inputs in the program, without defaults. */
  program: Properties;
  /** Inputs with their defaults. */
  inputs: Properties;
  outputs: Properties;
}

let count = 0;

/** Deploys a stack: a template with two endpoints, a volume, and a CPU endpoint. */
async function deploy(dialect: Dialect): Promise<Record<"template" | "first" | "second" | "cpu" | "volume", Deployed>> {
  const run = count++;
  const make = async (kind: keyof typeof kinds, program: Properties): Promise<Deployed> => {
    const { inputs, failures } = kinds[kind].check({}, program, naming(`${kind}-${run}-${count++}`), [], dialect);
    expect(failures).toEqual([]);
    return { kind, program, inputs, ...(await kinds[kind].create(inputs, bench.context({}, dialect))) };
  };
  const template = await make("Template", { imageName: "a:1", env: { A: "1" }, ports: "80/http", dockerArgs: "--a b" });
  const volume = await make("NetworkVolume", { size: 10, dataCenterId: "EU-RO-1" });
  const base = { templateId: template.id, workersMax: 0 };
  const gpuTypeIds = ["NVIDIA RTX A5000", "NVIDIA L4", "NVIDIA A40"];
  return {
    template,
    volume,
    first: await make("ServerlessEndpoint", { ...base, gpuTypeIds, networkVolumeId: volume.id, flashboot: true }),
    second: await make("ServerlessEndpoint", { ...base, networkVolumeIds: [volume.id], scalerType: "REQUEST_COUNT" }),
    cpu: await make("ServerlessEndpoint", { ...base, computeType: "CPU", idleTimeout: 30 }),
  };
}

/** Differences that a refresh in a dialect finds. */
async function drift(stack: Record<string, Deployed>, dialect: Dialect): Promise<string[]> {
  const context = bench.context({}, dialect);
  const found: string[] = [];
  for (const [name, resource] of Object.entries(stack)) {
    const readResult = await kinds[resource.kind].read(resource.id, resource.outputs, context);
    const changes = kinds[resource.kind].diff(readResult?.outputs ?? {}, resource.inputs, dialect);
    found.push(...changes.map(({ path }) => `${name}: ${path.join(".")}`));
  }
  return found;
}

/** Changes of a deployment of the same program in a dialect, without a request. */
function changes(stack: Record<string, Deployed>, dialect: Dialect): unknown[] {
  bench.drainRequests();
  const found = Object.values(stack).flatMap(({ kind, program, outputs }) => {
    const { inputs, failures } = kinds[kind].check(outputs, program, naming(), [], dialect);
    return [...failures, ...kinds[kind].diff(outputs, inputs, dialect)];
  });
  expect(bench.drainRequests()).toEqual([]);
  return found;
}

/** Changes inputs of the template, as a deployment in a dialect. */
async function updateTemplate(template: Deployed, inputs: Properties, dialect: Dialect): Promise<void> {
  template.program = { ...template.program, ...inputs };
  template.inputs = { ...template.inputs, ...inputs };
  template.outputs = await kinds.Template.update(
    template.id,
    template.outputs,
    template.inputs,
    bench.context({}, dialect),
  );
}

/** Image of an endpoint's workers, as the service reports it. */
async function imageOf({ id }: Deployed): Promise<unknown> {
  const { templateId } = propertiesIn((await bench.rest("GET", `/endpoints/${id}`)).json);
  return propertiesIn((await bench.rest("GET", `/templates/${String(templateId)}`)).json)["imageName"];
}

describe("a stack that was deployed by v1", () => {
  test("is unchanged for v2 and again for v1: no changes and no drift", async () => {
    const stack = await deploy("v1");
    for (const dialect of ["v1", "v2", "v1"] as const) {
      expect([dialect, changes(stack, dialect)]).toEqual([dialect, []]);
      expect([dialect, await drift(stack, dialect)]).toEqual([dialect, []]);
    }
  });

  test("accepts template updates by v2 and by v1, and every endpoint runs them", async () => {
    const stack = await deploy("v1");
    for (const [image, dialect] of [
      ["a:2", "v2"],
      ["a:3", "v1"],
      ["a:4", "v2"],
    ] as const) {
      await updateTemplate(stack.template, { imageName: image, env: { A: image } }, dialect);
      for (const resource of [stack.first, stack.second, stack.cpu])
        expect([dialect, await imageOf(resource)]).toEqual([dialect, image]);
      for (const refreshDialect of ["v1", "v2"] as const)
        expect([dialect, refreshDialect, await drift(stack, refreshDialect)]).toEqual([dialect, refreshDialect, []]);
    }
    await updateTemplate(stack.template, { dockerArgs: "" }, "v1");
    expect(await drift(stack, "v2")).toEqual([]);
  });
});

describe.each<[Dialect, Dialect]>([
  ["v1", "v2"],
  ["v2", "v1"],
])("a stack that was deployed by %s", (created, other) => {
  test(`is deleted by ${other}, the template after its endpoints`, async () => {
    const stack = await deploy(created);
    const { first, second, cpu, template, volume } = stack;
    for (const { kind, id, outputs } of [first, second, cpu, template, volume])
      await kinds[kind].delete(id, outputs, bench.context({}, other));
    expect(await bench.listObjects("endpoints").then((all) => all.map(propertiesIn).map(({ id }) => id))).not.toContain(
      cpu.id,
    );
  });
});

test("v1 shows another template for an endpoint that v2 deployed, and the next deployment binds it to its template", async () => {
  const { first, second, template } = await deploy("v2");
  const stack = { first, second, template };
  expect(changes(stack, "v1")).toEqual([]);
  // REST v1 has an order of the GPU types, which the pools of REST v2 lost.
  expect(await drift(stack, "v1")).toEqual(["first: templateId", "first: gpuTypeIds", "second: templateId"]);
  for (const endpoint of [first, second]) {
    const context = bench.context({}, "v1");
    const readResult = await kinds.ServerlessEndpoint.read(endpoint.id, endpoint.outputs, context);
    endpoint.outputs = await kinds.ServerlessEndpoint.update(
      endpoint.id,
      readResult?.outputs ?? {},
      endpoint.inputs,
      context,
    );
  }
  expect(await drift(stack, "v1")).toEqual([]);
  await updateTemplate(template, { imageName: "a:2" }, "v1");
  expect(await Promise.all([first, second].map(imageOf))).toEqual(["a:2", "a:2"]);
});

describe("an endpoint with a copy of its template", () => {
  test("whose settings were changed outside is drift, and the next deployment reverts it", async () => {
    const stack = await deploy("v2");
    const [endpoint] = [stack.first];
    const templateId = stringAt(await bench.rest("GET", `/endpoints/${endpoint.id}`), "templateId");
    expectResponse(await bench.rest("PATCH", `/templates/${templateId}`, { imageName: "evil:1" }), 200);
    expect(await drift(stack, "v2")).toEqual(["first: imageName"]);
    const context = bench.context({}, "v2");
    const readResult = await kinds.ServerlessEndpoint.read(endpoint.id, endpoint.outputs, context);
    expect(readResult?.inputs).toMatchObject({ templateId: stack.template.id, imageName: "evil:1" });
    expect(context.warnings).toEqual([]);
    await kinds.ServerlessEndpoint.update(endpoint.id, readResult?.outputs ?? {}, endpoint.inputs, context);
    expect(await imageOf(endpoint)).toBe("a:1");
    expect(await drift(stack, "v2")).toEqual([]);
  });

  test("receives its template's settings on adoption, without a message about a wait", async () => {
    const { template, first } = await deploy("v2");
    const templateId = stringAt(await bench.rest("GET", `/endpoints/${first.id}`), "templateId");
    expectResponse(await bench.rest("PATCH", `/templates/${templateId}`, { imageName: "evil:1" }), 200);
    const context = bench.context({}, "v2");
    const adopted = await kinds.ServerlessEndpoint.create({ ...first.inputs, adoptExisting: true }, context);
    expect([adopted.id, adopted.outputs["templateId"]]).toEqual([first.id, template.id]);
    expect(await imageOf(first)).toBe("a:1");
    expect(context.warnings).toEqual([]);
  });

  test("keeps running when another endpoint of the template is deleted, and the template remains", async () => {
    const stack = await deploy("v2");
    await kinds.ServerlessEndpoint.delete(stack.first.id, stack.first.outputs, bench.context({}, "v2"));
    expect(await imageOf(stack.second)).toBe("a:1");
    expect((await bench.rest("GET", `/templates/${stack.template.id}`)).status).toBe(200);
  });
});

test("drift of an endpoint without gpuTypeIds is reverted, and its GPUs are unchanged", async () => {
  const { second, template } = await deploy("v2");
  const gpuTypeIds = async () => propertiesIn((await bench.rest("GET", `/endpoints/${second.id}`)).json)["gpuTypeIds"];
  const before = await gpuTypeIds();
  expectResponse(await bench.rest("PATCH", `/endpoints/${second.id}`, { workersMax: 2 }), 200);
  expect(await drift({ second, template }, "v2")).toEqual(["second: workersMax"]);
  const context = bench.context({}, "v2");
  const readResult = await kinds.ServerlessEndpoint.read(second.id, second.outputs, context);
  second.outputs = await kinds.ServerlessEndpoint.update(second.id, readResult?.outputs ?? {}, second.inputs, context);
  expect(await gpuTypeIds()).toEqual(before);
  expect(changes({ second, template }, "v2")).toEqual([]);
  expect(await drift({ second, template }, "v2")).toEqual([]);
});

test("credentials are updated in place by v1 and replaced by v2: created, set in the template, deleted", async () => {
  const { ContainerRegistryAuth, Template } = kinds;
  const first = ContainerRegistryAuth.check({}, { name: "one", username: "u", password: "p" }, naming()).inputs;
  const second = { ...first, name: "two", password: "q" };
  const context = bench.context({}, "v2");
  const old = await ContainerRegistryAuth.create(first, context);
  const inputs = Template.check({}, { imageName: "a:1", containerRegistryAuthId: old.id }, naming("private")).inputs;
  const template = await Template.create(inputs, context);
  const replaced = (dialect: Dialect): boolean =>
    ContainerRegistryAuth.diff(old.outputs, { ...first, password: "q" }, dialect).some(({ replace }) => replace);
  expect([replaced("v1"), replaced("v2")]).toEqual([false, true]);
  const created = await ContainerRegistryAuth.create(second, context);
  const updated = { ...inputs, containerRegistryAuthId: created.id };
  await Template.update(template.id, template.outputs, updated, context);
  await ContainerRegistryAuth.delete(old.id, old.outputs, context);
  const readResult = await Template.read(template.id, template.outputs, context);
  expect(readResult?.inputs["containerRegistryAuthId"]).toBe(created.id);
});

test("REST v2 adopts credentials as they are, with a warning, because it neither returns nor changes them", async () => {
  const { ContainerRegistryAuth } = kinds;
  const inputs = { name: "shared", username: "robot", password: "one password", adoptExisting: true };
  const { id } = await ContainerRegistryAuth.create(inputs, bench.context({}, "v1"));
  const context = bench.context({}, "v2");
  expect(await ContainerRegistryAuth.adoptionWarning?.(inputs, context)).toBe(
    `adoptExisting: the existing ContainerRegistryAuth ${id} is adopted without a change; ` +
      "REST v2 neither shows nor changes its username and password, so they stay as they are",
  );
  const requestCount = bench.proxy.requests.length;
  const adopted = await ContainerRegistryAuth.create(inputs, context);
  expect(adopted).toEqual({ id, outputs: inputs });
  expect(bench.proxy.requests.slice(requestCount).map(({ method }) => method)).toEqual(["GET"]);
  expect(ContainerRegistryAuth.diff(adopted.outputs, inputs, "v2")).toEqual([]);
  const created = await ContainerRegistryAuth.create({ ...inputs, name: "absent" }, bench.context({}, "v2"));
  expect(created.id).not.toBe(id);
});

test.each<[keyof typeof kinds, Dialect, Dialect, Properties, Properties]>([
  ["Template", "v2", "v1", { imageName: "a:1", isServerless: false }, { allowedCudaVersions: ["12.4"] }],
  ["Template", "v1", "v2", { imageName: "a:1" }, { readme: "x" }],
  ["Template", "v1", "v2", { imageName: "a:1" }, { volumeMountPath: "/data" }],
  ["ServerlessEndpoint", "v2", "v1", { imageName: "a:1" }, { flashbootType: "PRIORITY_FLASHBOOT" }],
])(
  "the update of a %s of %s with %s accepts that the program no longer has a property of the former: %j, %j",
  async (kind, first, second, base, property) => {
    const name = `other-dialect-${count++}`;
    const { check, create, update, read } = kinds[kind];
    const dialectBase = kind === "Template" ? base : { templateId: (await deploy("v2")).template.id };
    const program = { name, ...dialectBase };
    const created = check({}, { ...program, ...property }, naming(), [], first).inputs;
    const { id, outputs } = await create(created, bench.context({}, first));
    const { inputs, failures } = check(created, program, naming(), [], second);
    expect(failures).toEqual([]);
    const updated = await update(id, outputs, inputs, bench.context({}, second));
    expect(kinds[kind].diff(updated, inputs, second)).toEqual([]);
    expect(await read(id, updated, bench.context({}, second))).toBeDefined();
  },
);

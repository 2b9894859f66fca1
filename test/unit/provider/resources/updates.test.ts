import type { Dialect } from "serverless-compute-api";
import { withChangedVariables } from "serverless-compute-api/shapes";
import { describe, expect, test } from "vitest";
import type { Properties, Value } from "../../../../provider/engine/values";
import { kinds } from "../../../../provider/resources";
import { changedVariables } from "../../../../provider/resources/template/variables";
import { propertiesIn, useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";

const bench = await useLifecycleBench();
const { NetworkVolume, Secret, ServerlessEndpoint, Template } = kinds;

const templateId = await bench.create("/templates", { name: "one", imageName: "a:1", isServerless: true });
const readObject = async (path: string): Promise<Properties> => propertiesIn((await bench.rest("GET", path)).json);

test("an endpoint's update sends only the properties that differ from the state", async () => {
  const inputsOf = (name: string, news: Properties): Properties =>
    ServerlessEndpoint.check({}, { templateId, ...news }, naming(name)).inputs;
  const { id, outputs } = await ServerlessEndpoint.create(inputsOf("old-dev", {}), bench.context());
  // Drift in a property that this update does not change.
  await bench.rest("PATCH", `/endpoints/${id}`, { idleTimeout: 77 });
  const changes = {
    gpuTypeIds: ["NVIDIA L4", "NVIDIA A40"],
    dataCenterIds: ["EU-RO-1"],
    scalerValue: 9,
    workersMax: 5,
  };
  const news = inputsOf("new-dev", changes);
  const updated = await ServerlessEndpoint.update(id, outputs, news, bench.context());
  expect(await readObject(`/endpoints/${id}`)).toMatchObject({ ...changes, name: "new-dev", idleTimeout: 77 });
  expect(updated).toMatchObject({ ...news, version: 1 });

  bench.drainRequests();
  expect(await ServerlessEndpoint.update(id, updated, news, bench.context())).toEqual(updated);
  expect(bench.drainRequests()).toEqual([]);
});

const volumeIds: string[] = [];
for (const name of ["first", "second", "third"])
  volumeIds.push(await bench.create("/networkvolumes", { name, size: 10, dataCenterId: "EU-RO-1" }));
const [firstVolume = "", secondVolume = "", thirdVolume = ""] = volumeIds;

const cpu = { computeType: "CPU" };
/** A value of `undefined` is expected to be absent. */
type Expected = { [key: string]: Value | undefined };
type Row = [change: string, program: Properties, drift: Properties, added: Properties, expected: Expected];
const balancerRow: Row = [
  "another property of a load balancer",
  { type: "LOAD_BALANCER" },
  { scalerValue: 7, workersMin: 2 },
  { dataCenterIds: ["EU-RO-1"] },
  { scalerType: "REQUEST_COUNT", scalerValue: 7, workersMin: 2 },
];
/** Properties that only REST v2 combines. */
const combinedRows: Row[] = [
  [
    "its CUDA versions",
    {},
    { minCudaVersion: "12.1" },
    { allowedCudaVersions: ["12.4"] },
    { minCudaVersion: undefined },
  ],
  [
    "its list of volumes",
    {},
    { networkVolumeId: firstVolume },
    { networkVolumeIds: [secondVolume] },
    { networkVolumeId: undefined },
  ],
  [
    "its volume",
    { networkVolumeId: firstVolume },
    { networkVolumeIds: [firstVolume, secondVolume] },
    { networkVolumeId: thirdVolume },
    { networkVolumeIds: [secondVolume] },
  ],
];
const rows: Row[] = [
  [
    "its scaler's value",
    {},
    { scalerType: "REQUEST_COUNT", scalerValue: 7 },
    { scalerValue: 9 },
    { scalerType: "REQUEST_COUNT" },
  ],
  ["its CPU flavours", cpu, { cpuFlavorIds: ["cpu5c"], vcpuCount: 8 }, { cpuFlavorIds: ["cpu3c"] }, { vcpuCount: 8 }],
  ["its virtual CPUs", cpu, { cpuFlavorIds: ["cpu5c"], vcpuCount: 8 }, { vcpuCount: 4 }, { cpuFlavorIds: ["cpu5c"] }],
  ["its maximum below the minimum", {}, { workersMin: 2 }, { workersMax: 1 }, { workersMin: 0 }],
  [
    "another property, with a minimum above the default maximum",
    {},
    { workersMin: 5, workersMax: 10 },
    { idleTimeout: 9 },
    { workersMin: 5, workersMax: 10 },
  ],
];
describe.each<Dialect>(["v1", "v2"])(
  "with REST %s, an endpoint keeps values that its program omits, unless they contradict the program",
  (dialect) => {
    test.each(dialect === "v1" ? rows : [...rows, balancerRow, ...combinedRows])(
      "after a change of %s",
      async (change, program, drift, added, expected) => {
        const context = bench.context({}, dialect);
        const check = (olds: Properties, news: Properties) =>
          ServerlessEndpoint.check(olds, { templateId, ...program, ...news }, naming(change), [], dialect);
        const { id, outputs } = await ServerlessEndpoint.create(check({}, {}).inputs, context);
        await bench.rest("PATCH", `/endpoints/${id}`, drift);
        const read = await ServerlessEndpoint.read(id, outputs, context);
        const { inputs, failures } = check(read?.inputs ?? {}, added);
        expect(failures).toEqual([]);
        const updated = await ServerlessEndpoint.update(id, read?.outputs ?? {}, inputs, context);
        const after = await ServerlessEndpoint.read(id, updated, context);
        for (const outputs of [updated, after?.outputs ?? {}])
          for (const [key, value] of Object.entries({ ...added, ...expected }))
            expect(outputs[key], key).toEqual(value);
        expect(ServerlessEndpoint.diff(after?.outputs ?? {}, inputs, dialect)).toEqual([]);
      },
    );
  },
);

/** A change of the scaler, and the scaler after it if someone else has changed it since the last refresh. */
const scalerRows: [changed: Properties, byOthers: Properties, expected: Properties][] = [
  [{ scalerValue: 6 }, { scalerType: "REQUEST_COUNT" }, { scalerType: "REQUEST_COUNT", scalerValue: 6 }],
  [{ scalerValue: 6 }, { scalerValue: 9 }, { scalerType: "QUEUE_DELAY", scalerValue: 6 }],
  [
    { scalerType: "REQUEST_COUNT", scalerValue: 6 },
    { scalerValue: 9 },
    { scalerType: "REQUEST_COUNT", scalerValue: 6 },
  ],
];
describe.each<Dialect>(["v1", "v2"])("with REST %s, an endpoint keeps the type of its scaler", (dialect) => {
  test.each(scalerRows)("if the program changes %j after others set %j", async (changed, byOthers, expected) => {
    const context = bench.context({}, dialect);
    const inputsOf = (news: Properties): Properties =>
      ServerlessEndpoint.check({}, { templateId, ...news }, naming("scaler"), [], dialect).inputs;
    const program = { scalerType: "QUEUE_DELAY", scalerValue: 5 };
    const { id, outputs } = await ServerlessEndpoint.create(inputsOf(program), context);
    await bench.rest("PATCH", `/endpoints/${id}`, byOthers);
    await ServerlessEndpoint.update(id, outputs, inputsOf({ ...program, ...changed }), context);
    expect(await readObject(`/endpoints/${id}`)).toMatchObject(expected);
  });
});

test.each<[changed: Properties, reason: string]>([
  [{ scalerType: "REQUEST_COUNT" }, "a value has the unit of its type"],
  [{ scalerValue: 0.5 }, "REQUEST_COUNT requires a whole number"],
  [{ scalerValue: 6, idleTimeout: 9 }, "REQUEST_COUNT has no idle timeout"],
])("with REST v2, a change of %j by the program determines the whole scaler: %s", async (changed) => {
  const context = bench.context({}, "v2");
  const inputsOf = (news: Properties): Properties =>
    ServerlessEndpoint.check({}, { templateId, ...news }, naming("scaler"), [], "v2").inputs;
  const program = { scalerType: "QUEUE_DELAY", scalerValue: 5 };
  const { id, outputs } = await ServerlessEndpoint.create(inputsOf(program), context);
  const byOthers = "scalerType" in changed ? { scalerValue: 300 } : { scalerType: "REQUEST_COUNT", scalerValue: 300 };
  await bench.rest("PATCH", `/endpoints/${id}`, byOthers);
  const updated = await ServerlessEndpoint.update(id, outputs, inputsOf({ ...program, ...changed }), context);
  const found = await ServerlessEndpoint.read(id, updated, context);
  expect(found?.inputs).toMatchObject({ ...program, ...changed });
});

test("a load balancer accepts further updates after its program stops setting the scaler", async () => {
  const context = bench.context({}, "v2");
  const inputsOf = (olds: Properties, news: Properties): Properties => {
    const endpoint = { templateId, type: "LOAD_BALANCER", ...news };
    return ServerlessEndpoint.check(olds, endpoint, naming("balancer"), [], "v2").inputs;
  };
  const steps = [{ scalerType: "REQUEST_COUNT" }, { workersMax: 4 }, { scalerValue: 6 }];
  const [first = {}, ...later] = steps;
  let inputs = inputsOf({}, first);
  let { id, outputs } = await ServerlessEndpoint.create(inputs, context);
  for (const step of later) {
    inputs = inputsOf(inputs, step);
    outputs = await ServerlessEndpoint.update(id, outputs, inputs, context);
    expect(outputs).toMatchObject({ ...step, scalerType: "REQUEST_COUNT" });
  }
});

test("renaming a volume that was enlarged outside the stack does not shrink it", async () => {
  const inputsOf = (name: string): Properties =>
    NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, naming(name)).inputs;
  const { id, outputs } = await NetworkVolume.create(inputsOf("small-dev"), bench.context());
  await bench.rest("PATCH", `/networkvolumes/${id}`, { size: 40 });
  await NetworkVolume.update(id, outputs, inputsOf("large-dev"), bench.context());
  expect(await readObject(`/networkvolumes/${id}`)).toMatchObject({ name: "large-dev", size: 40 });
});

test("a type is accepted for a volume that has it but whose state does not, and rejected if it is another one", async () => {
  const check = (news: Properties, dialect: Dialect): Properties =>
    NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1", ...news }, naming("typed-dev"), [], dialect).inputs;
  const { id, outputs } = await NetworkVolume.create(check({}, "v1"), bench.context({}, "v1"));
  expect(outputs).not.toHaveProperty("type");
  const update = (type: string) => NetworkVolume.update(id, outputs, check({ type }, "v2"), bench.context({}, "v2"));
  await expect(update("HIGH_PERFORMANCE")).rejects.toThrow(
    'type: is "HIGH_PERFORMANCE", but the volume has "STANDARD", which cannot change in place',
  );
  expect(await update("STANDARD")).toMatchObject({ type: "STANDARD" });
});

test.each<Dialect>(["v1", "v2"])("with REST %s, a larger volume of a template keeps its path", async (dialect) => {
  const context = bench.context({}, dialect);
  const inputsOf = (olds: Properties, volumeInGb: number): Properties =>
    Template.check(olds, { imageName: "a:1", isServerless: false, volumeInGb }, naming(`pod-${dialect}`), [], dialect)
      .inputs;
  const { id, outputs } = await Template.create(inputsOf({}, 20), context);
  await bench.rest("PATCH", `/templates/${id}`, { volumeMountPath: "/models" });
  const read = await Template.read(id, outputs, context);
  await Template.update(id, read?.outputs ?? {}, inputsOf(read?.inputs ?? {}, 30), context);
  expect(await readObject(`/templates/${id}`)).toMatchObject({ volumeInGb: 30, volumeMountPath: "/models" });
});

test("removing the volume and the mount path of a template keeps the volume and resets the path", async () => {
  const context = bench.context({}, "v2");
  const inputsOf = (news: Properties): Properties =>
    Template.check({}, { imageName: "a:1", isServerless: false, ...news }, naming("pod"), [], "v2").inputs;
  const { id, outputs } = await Template.create(inputsOf({ volumeInGb: 20, volumeMountPath: "/models" }), context);
  const updated = await Template.update(id, outputs, inputsOf({}), context);
  expect(await readObject(`/templates/${id}`)).toMatchObject({ volumeInGb: 20, volumeMountPath: "/workspace" });
  const read = await Template.read(id, updated, context);
  expect(Template.diff(read?.outputs ?? {}, inputsOf({}), "v2")).toEqual([]);
});

test("a secret's value and description are separate requests, each sent only if it changed", async () => {
  const inputsOf = (news: Properties): Properties =>
    Secret.check({}, { value: "value-1c04", ...news }, naming("hub")).inputs;
  let { id, outputs } = await Secret.create(inputsOf({}), bench.context());
  expect(outputs["reference"]).toBe("{{ RUNPOD_SECRET_hub }}");
  for (const [news, requests] of [
    [{ description: "new" }, 1],
    [{ description: "new", value: "value-2b7e" }, 1],
    [{ description: "newer", value: "value-3d91" }, 2],
    [{ description: "newer", value: "value-3d91" }, 0],
  ] as const) {
    bench.drainRequests();
    outputs = await Secret.update(id, outputs, inputsOf(news), bench.context());
    expect(bench.drainRequests()).toHaveLength(requests);
    expect(outputs).toMatchObject(news);
  }
});

test("a template's revision changes with drift of its content", async () => {
  const { inputs } = Template.check({}, { imageName: "acme/chat:1" }, naming("revised-dev"));
  const { id, outputs } = await Template.create(inputs, bench.context());
  expect(outputs["revision"]).toMatch(/^[0-9a-f]{16}$/);
  await bench.rest("PATCH", `/templates/${id}`, { imageName: "acme/other:1" });
  const found = await Template.read(id, outputs, bench.context());
  expect(found?.outputs["revision"]).not.toBe(outputs["revision"]);
});

const before = { A: "1", B: "2" };
const outside = { A: "outside", B: "2", C: "outside" };
test.each([
  ["changes one", { ...before, B: "3" }, { A: "outside", B: "3", C: "outside" }],
  ["removes one", { A: "1" }, { A: "outside", C: "outside" }],
  ["adds one", { ...before, D: "4" }, { A: "outside", B: "2", C: "outside", D: "4" }],
  ["changes the one that differs", { ...before, A: "5" }, { A: "5", B: "2", C: "outside" }],
  ["removes all", {}, { C: "outside" }],
])("an update of variables that %s leaves the others as they are", (_step, env, expected) => {
  expect(withChangedVariables(outside, env, changedVariables({ env: before }, env))).toEqual(expected);
});

const ownContainer = { workersMax: 0, imageName: "a:1" };
describe.each([
  ["a template with REST v1", "v1", "Template", { imageName: "a:1" }],
  ["a template with REST v2", "v2", "Template", { imageName: "a:1" }],
  ["an endpoint with its own container", "v2", "ServerlessEndpoint", ownContainer],
  ["an endpoint with a template", "v2", "ServerlessEndpoint", { workersMax: 0, templateId }],
] as const)("an update of a variable of %s", (title, dialect, kind, more) => {
  const operations = kinds[kind];
  const context = () => bench.context({}, dialect);
  /** Changes the variables outside of the program, without a refresh. */
  async function drift(id: string, variables: Record<string, string>): Promise<void> {
    const { management } = bench.context({}, "v2").clients;
    if (kind === "Template") return void (await management.updateTemplate(id, { env: variables }));
    const endpoint = await management.readEndpoint(id);
    if (endpoint?.templateId === undefined) return void (await management.updateEndpoint(id, { env: variables }));
    if (!endpoint.container) throw new Error("the endpoint has no container");
    await management.updateCopy?.(endpoint, { templateId: endpoint.templateId, ...endpoint.container, env: variables });
  }
  test("removes one and adds another, and leaves the others as they are, such as those that the program ignores", async () => {
    const name = title.replaceAll(/[^a-z0-9]+/gi, "-");
    const inputsOf = (variables: Properties): Properties =>
      operations.check({}, { ...more, env: variables }, naming(name), [], dialect).inputs;
    const { id, outputs } = await operations.create(inputsOf(before), context());
    await drift(id, outside);
    const env = { A: "1", D: "4" };
    const updated = await operations.update(id, outputs, inputsOf(env), context());
    expect(updated["env"]).toEqual(env);
    const record = await operations.read(id, updated, context());
    expect(record?.inputs["env"]).toEqual({ A: "outside", C: "outside", D: "4" });
  });
});

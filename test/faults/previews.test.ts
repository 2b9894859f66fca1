import { afterEach, describe, expect, test } from "vitest";
import { type Properties, Unknown } from "../../provider/lifecycle/contract";
import { hasUnknown } from "../../provider/lifecycle/properties/values";
import { resourceCalls } from "../../provider/plugin/resource-calls";
import { createCancellation } from "../../provider/process/cancellation";
import { kinds } from "../../provider/resources";
import { dialect } from "../support/dialect";
import { handlerFile, useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { arrived, sent } from "../support/property-sets";
import { stringAt } from "../support/raw-http";
import { inputSteps, inputTable } from "./support/input-table";
import type { ObjectKind } from "./support/kinds";

const bench = await useLifecycleBench({ templateRelease: 0, images: { "acme/echo:1": handlerFile("echo") } });
const { cases, bases } = await inputTable(bench);
const silent = { progress: () => {}, warning: async () => {} };

/** The plugin's calls, over clients of their own. */
function calls() {
  const { clients, clock, settings } = bench.context();
  return resourceCalls(
    {
      keepConfiguration: () => {},
      beginDeployment: () => {},
      connect: () => ({ clients, settings }),
      dialect: () => "v1",
      serverlessUrl: () => bench.addresses.serverlessUrl,
      preflight: () => "off",
      objects: () => new Map(),
      held: () => new Map(),
      clock,
      log: silent,
      cancellation: createCancellation(),
      sighted: () => {},
      checking: () => {},
    },
    kinds,
  );
}

const urnOf = (kind: string): string => `urn:pulumi:dev::shop::serverless-compute:index:${kind}::subject`;

async function create(kind: string, news: Properties, preview: boolean): Promise<{ id: string; outputs: Properties }> {
  const request = { urn: urnOf(kind), properties: sent(news), preview, timeout: 0 };
  const { id = "", properties } = await calls().create(request);
  return { id, outputs: arrived(properties).properties };
}

async function update(kind: string, id: string, olds: Properties, news: Properties, preview: boolean) {
  const request = { id, urn: urnOf(kind), olds: sent(olds), news: sent(news), preview, timeout: 0 };
  return arrived((await calls().update(request)).properties).properties;
}

/** Old properties that the plugin's Diff reports as stable. */
async function stables(kind: string, id: string, olds: Properties, news: Properties): Promise<string[]> {
  const response = await calls().diff({ id, urn: urnOf(kind), olds: sent(olds), news: sent(news) });
  return response.stables ?? [];
}

/**
 * All properties are equal except exactly the unknown ones. Properties that will be absent are null in a preview,
 * because programs treat missing ones as unknown.
 */
function expectPreviewed(previewed: Properties, real: Properties, unknown: string[]): void {
  const open = Object.keys(previewed).filter((key) => hasUnknown(previewed[key]));
  expect(open.sort()).toEqual([...unknown].sort());
  const part = (all: Properties) =>
    Object.fromEntries(Object.entries(all).filter(([key, value]) => value !== null && !unknown.includes(key)));
  expect(part(previewed)).toEqual(part(real));
}

/** Properties that only the service can determine. */
const told: Record<ObjectKind, { create: string[]; update: string[] }> = {
  Template: { create: [], update: [] },
  ServerlessEndpoint: { create: ["url", "version"], update: ["version"] },
  NetworkVolume: { create: [], update: [] },
  Secret: { create: [], update: [] },
  ContainerRegistryAuth: { create: [], update: [] },
};

const rows = cases.flatMap((one) => inputSteps(one).map(([step, was, is]) => ({ ...one, step, was, is })));

let made: { kind: ObjectKind; id: string; outputs: Properties } | undefined;
afterEach(async () => {
  if (made) await kinds[made.kind].delete(made.id, made.outputs, bench.context());
  made = undefined;
});

describe("previews of the plugin return the outputs of the calls that follow", () => {
  test.each(rows)("$kind: $input $step", async ({ kind, input, along, was, is }) => {
    const inputsOf = (more: Properties, state: Properties = {}): Properties =>
      kinds[kind].check(state, { ...bases[kind], ...along, ...more }, naming("subject-dev")).inputs;
    const olds = inputsOf(was);
    // The accompanying name depends on the existing one.
    const news = inputsOf(is, input === "replaceOnChange" ? olds : {});
    const previewed = await create(kind, olds, true);
    made = { kind, ...(await create(kind, olds, false)) };
    expectPreviewed(previewed.outputs, made.outputs, told[kind].create);

    const { id, outputs } = made;
    const changes = kinds[kind].diff(outputs, news, dialect);
    if (changes.length === 0 || changes.some(({ replace }) => replace)) return;
    const before = await update(kind, id, outputs, news, true);
    const stable = await stables(kind, id, outputs, news);
    const after = await update(kind, id, outputs, news, false);
    made = { kind, id, outputs: after };
    expectPreviewed(before, after, told[kind].update);
    for (const key of stable) expect(after[key], key).toEqual(outputs[key]);
    if (input !== "name") expect(stable).toContain("name");
  });
});

test("an unknown value in a map makes only itself and derived outputs unknown", async () => {
  const news = { ...bases.Template, env: { A: "1", B: Unknown.value } };
  const { inputs } = kinds.Template.check({}, news, naming("subject-dev"));
  const { outputs } = await create("Template", inputs, true);
  expectPreviewed(outputs, { ...inputs }, ["env", "revision"]);
  expect(outputs["env"]).toEqual({ A: "1", B: Unknown.value });
});

test("the version of an endpoint is unknown in previews, because a changed template increases it", async () => {
  const templateId = stringAt(
    await bench.rest("POST", "/templates", { name: "counted", imageName: "a:1", isServerless: true }),
    "id",
  );
  const inputs = kinds.ServerlessEndpoint.check({}, { templateId, workersMax: 0 }, naming("counted-dev")).inputs;
  const { id, outputs } = await create("ServerlessEndpoint", inputs, false);
  await bench.rest("PATCH", `/templates/${templateId}`, { env: { A: "2" } });
  const news = { ...inputs, idleTimeout: 9 };
  const previewed = await update("ServerlessEndpoint", id, outputs, news, true);
  const real = await update("ServerlessEndpoint", id, outputs, news, false);
  // In v2 the endpoint has a copy, which an outside change of the template does not reach.
  const after = dialect === "v1" ? 2 : 1;
  expect([outputs["version"], previewed["version"], real["version"]]).toEqual([1, Unknown.value, after]);
  await kinds.ServerlessEndpoint.delete(id, real, bench.context());
});

test("a duplicate that an update deletes is not in its preview", async () => {
  const inputs = kinds.NetworkVolume.check({}, bases.NetworkVolume, naming("subject-dev")).inputs;
  made = { kind: "NetworkVolume", ...(await create("NetworkVolume", inputs, false)) };
  const double = stringAt(
    await bench.rest("POST", "/networkvolumes", { name: "subject-dev", size: 10, dataCenterId: "EU-RO-1" }),
    "id",
  );
  const olds = { ...made.outputs, doubles: [double] };
  const news = { ...inputs, size: 11 };
  const previewed = await update("NetworkVolume", made.id, olds, news, true);
  expectPreviewed(previewed, await update("NetworkVolume", made.id, olds, news, false), []);
});

describe("JobInvoke", async () => {
  const template = { name: "echo", imageName: "acme/echo:1", isServerless: true };
  const templateId = stringAt(await bench.rest("POST", "/templates", template), "id");
  const endpoint = { name: "one", templateId, workersMax: 1 };
  const base = { endpointId: stringAt(await bench.rest("POST", "/endpoints", endpoint), "id"), input: { text: "a" } };
  const outcome = ["jobId", "status", "output", "delayTime", "executionTime"];

  test.each<[string, Properties, Properties]>([
    ["policy", { policy: { ttl: 60_000 } }, {}],
    ["an option of policy", { policy: { ttl: 60_000, lowPriority: false } }, { policy: { ttl: 60_000 } }],
    ["expect", { expect: { output: { text: "a" } } }, {}],
    ["triggers", { triggers: ["r1"] }, {}],
    ["a property of input", { input: { text: "a", more: { deep: [1] } } }, {}],
  ])("%s added, then removed", async (_, more, less) => {
    const { JobInvoke } = kinds;
    const [full, bare] = [more, less].map((one) => JobInvoke.check({}, { ...base, ...one }, naming()).inputs);
    if (!full || !bare) throw new Error("unreachable");
    const previewed = await create("JobInvoke", full, true);
    const { clients, settings } = bench.context();
    const context = bench.context({
      clients,
      settings,
      clock: { now: Date.now, sleep: (ms) => new Promise((done) => setTimeout(done, Math.min(ms, 50))) },
    });
    const first = await JobInvoke.create(full, context);
    expectPreviewed(previewed.outputs, first.outputs, outcome);
    const before = await update("JobInvoke", first.id, first.outputs, bare, true);
    expectPreviewed(before, await JobInvoke.update(first.id, first.outputs, bare, context), outcome);
  });
});

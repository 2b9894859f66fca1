import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Properties, Unknown } from "../../provider/engine/values";
import type { ProviderProcess } from "../../provider/framework/process";
import { kinds } from "../../provider/resources";
import { configuredProcess, connectedProcess } from "../support/configured-process";
import { dialect } from "../support/dialect";
import { partialFailureOf, propertiesIn, useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { providerVariants } from "../support/provider-variants";
import { collections, inputTable } from "./support/input-table";
import { freshName } from "./support/kinds";

const bench = await useLifecycleBench({ templateRelease: 0 });
const table = await inputTable(bench);
/** The contract of REST v1 does not describe flashboot in responses. */
const showsFlashboot = dialect === "v2" || process.env["TEST_RESPONSES"] !== "stripped";
/** Optional inputs whose values the service stores. */
const optionalInputs = table.cases.filter(
  ({ input, required }) => !required && !["name", "adoptExisting", "replaceOnChange"].includes(input),
);

describe.each(optionalInputs)("$input of an existing $kind", ({ kind, input, values, change, relatedInputs }) => {
  const lifecycle = kinds[kind];
  const [oldValue, newValue] = values;
  const inputsOf = (name: string, more: Properties): Properties => {
    const { inputs, failures } = lifecycle.check({}, { ...table.bases[kind], ...more, name }, naming(), [], dialect);
    expect(failures).toEqual([]);
    return inputs;
  };
  const recordOf = async (id: string) =>
    (await bench.listObjects(collections[kind])).map(propertiesIn).find((record) => record["id"] === id);
  /** The part of the warning after the id. */
  const warningOf = async (inputs: Properties): Promise<string | undefined> =>
    (await lifecycle.adoptionWarning?.(inputs, bench.context()))?.replace(/^.* is adopted /, "");

  test("is kept if the program omits it, and changed to the program's value, which the warning announces", async () => {
    const name = freshName();
    // As if created by hand.
    const created = await lifecycle.create(inputsOf(name, { ...relatedInputs, [input]: oldValue }), bench.context());
    const { id } = created;
    onTestFinished(() => lifecycle.delete(id, created.outputs, bench.context()));
    const record = await recordOf(id);
    // A template would determine the settings of the container.
    const isContainer = kind === "ServerlessEndpoint" && relatedInputs?.["templateId"] === null;
    const omitted = inputsOf(name, { ...(isContainer ? relatedInputs : {}), adoptExisting: true });
    // The value of a secret cannot be compared.
    expect(await warningOf(omitted)).toBe(kind === "Secret" ? "and changes in place: value" : "without a change");
    const adopted = await lifecycle.create(omitted, bench.context());
    expect(adopted.id).toBe(id);
    expect(await recordOf(id)).toEqual(record);
    expect(lifecycle.diff(adopted.outputs, omitted, dialect)).toEqual([]);
    const read = await lifecycle.read(id, adopted.outputs, bench.context());
    expect(read?.outputs).toEqual(adopted.outputs);

    const inputs = inputsOf(name, { ...relatedInputs, [input]: newValue, adoptExisting: true });
    if (change === "replace") {
      await expect(lifecycle.adoptionWarning?.(inputs, bench.context())).rejects.toThrow("cannot change in place");
      await expect(lifecycle.create(inputs, bench.context())).rejects.toThrow("cannot change in place");
      return;
    }
    expect(await warningOf(inputs)).toMatch(new RegExp(`^and changes in place: .*${input}`));
    const { outputs } = await lifecycle.create(inputs, bench.context());
    const changed = await lifecycle.read(id, outputs, bench.context());
    expect(changed?.inputs[input]).toEqual(inputs[input]);
    // Some properties are not shown by GraphQL, or by the contract of REST v1, so they are always sent.
    const isUnshown = !showsFlashboot && input === "flashboot";
    const isHidden = dialect === "v1" && (lifecycle.options[input]?.optionalInGraphql === true || isUnshown);
    const sent = kind === "Secret" ? "value" : isHidden ? input : undefined;
    expect(await warningOf(inputs)).toBe(sent === undefined ? "without a change" : `and changes in place: ${sent}`);
  });
});

// A program that omits the type of a load balancer cannot verify it.
const endpointInputs = optionalInputs.filter(({ kind, input }) => kind === "ServerlessEndpoint" && input !== "type");
test.each(endpointInputs)(
  "$input is kept by the deployment after an adoption that failed its verification",
  async (row) => {
    const { input, values, relatedInputs } = row;
    const { ServerlessEndpoint } = kinds;
    const name = freshName();
    const inputsOf = (more: Properties): Properties =>
      ServerlessEndpoint.check({}, { ...table.bases.ServerlessEndpoint, ...more, name }, naming(), [], dialect).inputs;
    const created = await ServerlessEndpoint.create(
      inputsOf({ ...relatedInputs, [input]: values[0] }),
      bench.context(),
    );
    onTestFinished(() => ServerlessEndpoint.delete(created.id, created.outputs, bench.context()));
    const container = relatedInputs?.["templateId"] === null ? relatedInputs : {};
    // No worker runs the job.
    const news = inputsOf({ ...container, adoptExisting: true, verify: { input: {}, timeout: 1 } });
    const { id, outputs } = await partialFailureOf(ServerlessEndpoint.create(news, bench.context()));
    expect(id).toBe(created.id);
    const changes = ServerlessEndpoint.diff(outputs, news, dialect).map(({ path: [key] }) => key);
    expect(changes).toEqual(["verify"]);
  },
);

type AdoptedRow = [existing: Properties, news: Properties, warning: string];
const priorityToOff: AdoptedRow = [
  { flashbootType: "PRIORITY_FLASHBOOT" },
  { flashboot: false },
  "flashboot (now true)",
];
test.each<AdoptedRow>([
  [{ workersMin: 3, workersMax: 5 }, { workersMax: 2 }, "workersMin (now 3), workersMax (now 5)"],
  [{ flashboot: true }, { workersMax: 2 }, "workersMax (now 3)"],
  [{}, { flashboot: true }, showsFlashboot ? "flashboot (now false)" : "flashboot"],
  [{ scalerType: "REQUEST_COUNT", scalerValue: 9 }, { scalerType: "QUEUE_DELAY" }, 'scalerType (now "REQUEST_COUNT")'],
  [{ gpuTypeIds: ["NVIDIA L4"], gpuCount: 2 }, { gpuTypeIds: ["NVIDIA A40"] }, "gpuTypeIds"],
  [{ minCudaVersion: "12.1" }, { allowedCudaVersions: ["12.4"] }, "allowedCudaVersions"],
  [{}, { verify: { input: {} }, workersMax: 1 }, "workersMax (now 3)"],
  ...(dialect === "v2" ? [priorityToOff] : []),
])("an endpoint with %j and the inputs %j changes exactly: %s", async (existing, news, changes) => {
  const endpoint = { ...table.bases.ServerlessEndpoint, name: freshName() };
  const check = (more: Properties) =>
    kinds.ServerlessEndpoint.check({}, { ...endpoint, ...more }, naming(), [], dialect).inputs;
  const { id, outputs } = await kinds.ServerlessEndpoint.create(check(existing), bench.context());
  onTestFinished(() => kinds.ServerlessEndpoint.delete(id, outputs, bench.context()));
  const inputs = check({ ...news, adoptExisting: true });
  const warning = await kinds.ServerlessEndpoint.adoptionWarning?.(inputs, bench.context());
  // REST v2 allows only one of the two CUDA settings.
  const more = dialect === "v2" && "minCudaVersion" in existing ? ', minCudaVersion (now "12.1")' : "";
  expect(warning).toBe(
    `adoptExisting: the existing ServerlessEndpoint ${id} is adopted and changes in place: ${changes}${more}`,
  );
  if ("verify" in news) return;
  const adopted = await kinds.ServerlessEndpoint.create(inputs, bench.context());
  const isSentAgain = !showsFlashboot && "flashboot" in news;
  const unchanged = isSentAgain ? /and changes in place: flashboot$/ : /without a change$/;
  expect(await kinds.ServerlessEndpoint.adoptionWarning?.(inputs, bench.context())).toMatch(unchanged);
  expect(adopted.id).toBe(id);
});

test("an unknown input counts as a change", async () => {
  const name = freshName();
  const { ServerlessEndpoint } = kinds;
  const inputs = ServerlessEndpoint.check({}, { ...table.bases.ServerlessEndpoint, name }, naming()).inputs;
  const { id, outputs } = await ServerlessEndpoint.create(inputs, bench.context());
  onTestFinished(() => ServerlessEndpoint.delete(id, outputs, bench.context()));
  const news = { name, templateId: Unknown.value, workersMax: 4, adoptExisting: true };
  const unknown = ServerlessEndpoint.check({}, news, naming()).inputs;
  expect(await ServerlessEndpoint.adoptionWarning?.(unknown, bench.context())).toMatch(
    /changes in place: workersMax \(now 3\), templateId \(now "\w+"\)$/,
  );
});

const settings = endpointInputs.filter(({ relatedInputs }) => relatedInputs?.["templateId"] !== null);
test.each(settings)("$input is kept if the template of the program is unknown in the preview", async (row) => {
  const { input, values, relatedInputs } = row;
  const { ServerlessEndpoint } = kinds;
  const inputsOf = (more: Properties): Properties =>
    ServerlessEndpoint.check({}, { ...table.bases.ServerlessEndpoint, ...more }, naming(), [], dialect).inputs;
  const name = freshName();
  // REST v2 shows no template of an endpoint with its own container.
  const container = dialect === "v2" ? { templateId: null, imageName: "own:1" } : {};
  const existing = inputsOf({ ...container, ...relatedInputs, [input]: values[0], name });
  const { id, outputs } = await ServerlessEndpoint.create(existing, bench.context());
  onTestFinished(() => ServerlessEndpoint.delete(id, outputs, bench.context()));
  const inputs = inputsOf({ templateId: Unknown.value, name, adoptExisting: true });
  expect(await ServerlessEndpoint.adoptionWarning?.(inputs, bench.context())).toMatch(
    /changes in place: templateId( \(now "\w+"\))?$/,
  );
});

describe("the preview of an adoption", () => {
  const news = { imageName: "new:2", env: { B: "2" }, dockerArgs: "serve", adoptExisting: true };
  /** Warnings of a check in both provider variants. */
  async function warningsOf(name: string, host: ProviderProcess, olds: { name?: string } = {}): Promise<string[]> {
    const warnings: string[] = [];
    const log = { ...host.log, warning: async (_urn: string, text: string) => void warnings.push(text) };
    for (const variant of Object.values(providerVariants))
      await variant(kinds.Template, { ...host, log }).check(olds, { name, ...news });
    return warnings;
  }

  test("lists the changes of the existing object without its variables and start arguments, in both variants", async () => {
    const name = freshName();
    const id = await bench.create("/templates", {
      name,
      imageName: "old:1",
      isServerless: true,
      env: { A: "planted-1" },
      dockerStartCmd: ["--token", "planted-2"],
      containerDiskInGb: 7,
    });
    const host = connectedProcess(bench.context().clients, { dialect });
    const warning = `adoptExisting: the existing Template ${id} is adopted and changes in place: imageName (now "old:1"), dockerArgs, env.A, env.B`;
    expect(await warningsOf(name, host)).toEqual([warning, warning]);
    expect(await warningsOf(freshName(), host)).toEqual([]);
    // A deployed resource is renamed in place, or replaced, for which the engine checks it again as a new one.
    expect(await warningsOf(name, host, { name: freshName() })).toEqual([]);
  });

  test("without a key says that the changes cannot be shown", async () => {
    vi.stubEnv("SERVERLESS_COMPUTE_API_KEY", "");
    onTestFinished(() => void vi.unstubAllEnvs());
    const warning = expect.stringMatching(
      /^adoptExisting: the changes of an adoption cannot be shown: the API key of .* is missing/,
    );
    expect(await warningsOf(freshName(), configuredProcess({ dialect }))).toEqual([warning, warning]);
  });
});

describe.each(Object.entries(providerVariants))("with the %s", (_name, variant) => {
  const objectKinds = ["Template", "ServerlessEndpoint", "NetworkVolume", "Secret", "ContainerRegistryAuth"] as const;
  test.each(objectKinds)("a renamed %s adopts its object, also if a refresh has read it before", async (kind) => {
    const name = freshName();
    const listIds = async () =>
      (await bench.listObjects(collections[kind]))
        .map(propertiesIn)
        .flatMap((item) => (item["name"] === name ? item["id"] : []));
    const program = { ...table.bases[kind], name, adoptExisting: true };
    const beginDeployment = () => connectedProcess(bench.context().clients, { dialect });
    const first = variant(kinds[kind], beginDeployment(), "old");
    const { inputs } = await first.check({}, program);
    const outputs = await first.create(inputs);
    const ids = await listIds();
    const [id = ""] = ids.map(String);
    onTestFinished(() => kinds[kind].delete(id, { name }, bench.context()));

    const secondDeployment = beginDeployment();
    const old = variant(kinds[kind], secondDeployment, "old");
    const refreshed = await old.read(id, { inputs, outputs });
    await old.diff(id, refreshed.outputs, refreshed.inputs);
    const renamed = variant(kinds[kind], secondDeployment, "renamed");
    await renamed.create((await renamed.check({}, program)).inputs);
    await old.delete(id, refreshed.outputs);
    expect(await listIds()).toEqual(ids);
  });
});

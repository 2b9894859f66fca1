import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { type Properties, Unknown } from "../../../../provider/engine/values";
import type { Change } from "../../../../provider/framework/contract";
import { checkInputs } from "../../../../provider/framework/properties/check";
import { matchesInputs } from "../../../../provider/framework/properties/diff";
import { kinds } from "../../../../provider/resources";
import { jobInvokeInputs } from "../../../../provider/resources/job-invoke/inputs";
import { serverlessEndpointInputs } from "../../../../provider/resources/serverless-endpoint/inputs";
import { templateInputs } from "../../../../provider/resources/template/inputs";
import { naming } from "../../../support/naming";

const networkVolumeInputs = kinds.NetworkVolume.inputs;

const unknown = Unknown.value;
const { Template, ServerlessEndpoint, NetworkVolume, JobInvoke } = kinds;

const linesOf = (changes: Change[]): string[] =>
  changes.map(({ path, kind, replace }) => `${kind} ${path.join(".")}${replace ? ", replace" : ""}`);

const planned = (changes: Change[], [olds, news]: [Properties, Properties] = [{ name: "a" }, { name: "b" }]) => ({
  changes,
  olds,
  news,
  dialect: undefined,
});

/** Inputs that `check` returns for a program. */
const checkedBy = (kind: typeof ServerlessEndpoint, news: Properties): Properties =>
  kind.check({}, news, naming("chat-dev")).inputs;

describe("a property that the program left at its default", () => {
  const unset = checkedBy(ServerlessEndpoint, { templateId: "t1" });

  test("is unchanged once the program sets the default, unless a refresh has read another value", () => {
    const set = checkedBy(ServerlessEndpoint, { templateId: "t1", workersMax: 3 });
    expect(ServerlessEndpoint.diff(unset, set)).toEqual([]);
    expect(linesOf(ServerlessEndpoint.diff({ ...unset, workersMax: 9 }, set))).toEqual(["update workersMax"]);
    expect(linesOf(ServerlessEndpoint.diff(set, unset))).toEqual([]);
  });

  test("never replaces the object when the program sets the default", () => {
    const set = checkedBy(ServerlessEndpoint, { templateId: "t1", computeType: "GPU" });
    expect(ServerlessEndpoint.diff(unset, set)).toEqual([]);
  });

  test("is reset if the program had another value", () => {
    const set = checkedBy(ServerlessEndpoint, { templateId: "t1", workersMax: 7 });
    expect(linesOf(ServerlessEndpoint.diff(set, unset))).toEqual(["update workersMax"]);
  });

  test("is unchanged in state that does not record defaults", () => {
    const { __defaults: _none, ...older } = unset;
    const set = checkedBy(ServerlessEndpoint, { templateId: "t1", workersMax: 3 });
    expect(ServerlessEndpoint.diff(older, unset)).toEqual([]);
    expect(ServerlessEndpoint.diff(older, set)).toEqual([]);
  });
});

/** Inputs with every default, without the record of those. */
function checked(shape: z.ZodObject, news: Properties): Properties {
  const { __defaults: _none, ...inputs } = checkInputs(shape, {}, news, naming("chat-dev")).inputs;
  return inputs;
}

const template = checked(templateInputs, { imageName: "acme/chat:1", env: { A: "1", B: "2" } });
const endpoint = checked(serverlessEndpointInputs, { templateId: "t1", gpuTypeIds: ["NVIDIA L4", "NVIDIA A40"] });
const volume = checked(networkVolumeInputs, { size: 10, dataCenterId: "EU-RO-1" });
const job = checked(jobInvokeInputs, { endpointId: "e", input: { prompt: "ping" }, triggers: ["r1"] });

describe("there is no change", () => {
  test("for old outputs that are not inputs: computed, added by the service, or of another version", () => {
    expect(Template.diff({ ...template, revision: "abc", id: "x", oldThing: [1] }, template)).toEqual([]);
    expect(ServerlessEndpoint.diff({ ...endpoint, url: "u", version: 3, workers: [] }, endpoint)).toEqual([]);
  });

  test("for a state of an earlier version without a new default", () => {
    expect(Template.diff({ name: "chat-dev", imageName: "acme/chat:1", env: template["env"] ?? {} }, template)).toEqual(
      [],
    );
    expect(JobInvoke.diff({ endpointId: "e", input: { prompt: "ping" }, triggers: ["r1"] }, job)).toEqual([]);
    expect(JobInvoke.diff({ ...job, expect: {} }, job)).toEqual([]);
  });

  test("for an unordered list in another order or with repeated elements", () => {
    const set = { ...endpoint, dataCenterIds: ["A", "B"], allowedCudaVersions: ["12.1", "12.4"] };
    const other = { ...endpoint, dataCenterIds: ["B", "A"], allowedCudaVersions: ["12.4", "12.1", "12.4"] };
    expect(ServerlessEndpoint.diff(set, other)).toEqual([]);
    expect(ServerlessEndpoint.diff(other, set)).toEqual([]);
  });

  test("for a suffix that the service added to the endpoint's name", () => {
    expect(ServerlessEndpoint.diff({ ...endpoint, name: "chat-dev-fb" }, endpoint)).toEqual([]);
  });

  test("between absent, null and empty values", () => {
    for (const none of [null, ""])
      expect(ServerlessEndpoint.diff({ ...endpoint, networkVolumeId: none }, endpoint)).toEqual([]);
    expect(ServerlessEndpoint.diff(endpoint, { ...endpoint, cpuFlavorIds: [] })).toEqual([]);
    expect(Template.diff({ ...template, containerRegistryAuthId: "" }, template)).toEqual([]);
  });

  test("for values that the service fills in", () => {
    expect(ServerlessEndpoint.diff({ ...endpoint, vcpuCount: 2, executionTimeoutMs: 600_000 }, endpoint)).toEqual([]);
  });

  test("for another notation of ports or maps", () => {
    const spaced = { ...template, ports: "8888/http, 22/tcp", env: { B: "2", A: "1" } };
    expect(Template.diff(spaced, { ...template, ports: "8888/http,22/tcp" })).toEqual([]);
  });
});

describe("a change is reported at its own path", () => {
  test.each<[string, Properties, string[]]>([
    ["a value", { imageName: "acme/chat:2" }, ["update imageName"]],
    ["a variable", { env: { A: "9", B: "2" } }, ["update env.A"]],
    ["a removed and an added variable", { env: { A: "1", C: "3" } }, ["delete env.B", "add env.C"]],
    ["a property with no default", { containerRegistryAuthId: "auth" }, ["add containerRegistryAuthId"]],
    ["a value instead of the default", { readme: "x" }, ["update readme"]],
    ["a property that cannot change in place", { isServerless: false }, ["update isServerless, replace"]],
  ])("%s", (_, change, lines) => {
    expect(linesOf(Template.diff(template, { ...template, ...change }))).toEqual(lines);
  });

  test("a reset to the default, and a removal", () => {
    expect(linesOf(Template.diff({ ...template, readme: "x" }, template))).toEqual(["update readme"]);
    const bound = { ...endpoint, networkVolumeId: "v" };
    expect(linesOf(ServerlessEndpoint.diff(bound, endpoint))).toEqual(["delete networkVolumeId"]);
  });

  test("a list in priority order changes as a whole", () => {
    const reordered = { ...endpoint, gpuTypeIds: ["NVIDIA A40", "NVIDIA L4"] };
    expect(linesOf(ServerlessEndpoint.diff(endpoint, reordered))).toEqual(["update gpuTypeIds"]);
  });

  test("an unordered list with another element, or without one", () => {
    const set = { ...endpoint, dataCenterIds: ["A", "B"] };
    expect(linesOf(ServerlessEndpoint.diff(set, { ...set, dataCenterIds: ["B", "C"] }))).toEqual([
      "update dataCenterIds",
    ]);
    expect(linesOf(ServerlessEndpoint.diff(set, { ...set, dataCenterIds: ["B", "B"] }))).toEqual([
      "update dataCenterIds",
    ]);
  });

  test("a name that resembles a suffixed name is a different name", () => {
    expect(linesOf(ServerlessEndpoint.diff({ ...endpoint, name: "chat-fb-dev" }, endpoint))).toEqual(["update name"]);
  });

  test("a job runs again for any changed input or trigger, at any depth", () => {
    expect(linesOf(JobInvoke.diff(job, { ...job, triggers: ["r2"] }))).toEqual(["update triggers"]);
    expect(linesOf(JobInvoke.diff(job, { ...job, triggers: ["r1", { a: [1] }] }))).toEqual(["update triggers"]);
    expect(linesOf(JobInvoke.diff(job, { ...job, input: { prompt: "ping", n: null } }))).toEqual(["add input.n"]);
    expect(linesOf(JobInvoke.diff(job, { ...job, input: { prompt: {} } }))).toEqual(["update input.prompt"]);
    expect(linesOf(JobInvoke.diff(job, { ...job, expect: { status: "FAILED" } }))).toEqual(["update expect.status"]);
    expect(linesOf(JobInvoke.diff(job, { ...job, policy: { ttl: 60_000 } }))).toEqual(["add policy"]);
    const deep = { ...job, triggers: [{ a: [1, { b: 2 }] }] };
    expect(linesOf(JobInvoke.diff(deep, { ...job, triggers: [{ a: [1, { b: 3 }] }] }))).toEqual(["update triggers"]);
    expect(JobInvoke.diff(deep, { ...job, triggers: [{ a: [1, { b: 2 }] }] })).toEqual([]);
  });
});

describe("an unknown value counts as a change", () => {
  test.each<[string, Change[], string[]]>([
    ["a property", ServerlessEndpoint.diff(endpoint, { ...endpoint, templateId: unknown }), ["update templateId"]],
    [
      "a property that replaces",
      NetworkVolume.diff(volume, { ...volume, dataCenterId: unknown }),
      ["update dataCenterId, replace"],
    ],
    ["one variable", Template.diff(template, { ...template, env: { A: unknown, B: "2" } }), ["update env.A"]],
    [
      "a variable that is new",
      Template.diff(template, { ...template, env: { A: "1", B: "2", C: unknown } }),
      ["add env.C"],
    ],
    ["a whole map", Template.diff(template, { ...template, env: unknown }), ["update env"]],
    [
      "an element of a list",
      ServerlessEndpoint.diff(endpoint, { ...endpoint, gpuTypeIds: ["NVIDIA L4", unknown] }),
      ["update gpuTypeIds"],
    ],
    [
      "an element of a set",
      ServerlessEndpoint.diff(endpoint, { ...endpoint, dataCenterIds: [unknown] }),
      ["update dataCenterIds"],
    ],
    ["a trigger", JobInvoke.diff(job, { ...job, triggers: [unknown] }), ["update triggers"]],
    ["an endpoint's name", ServerlessEndpoint.diff(endpoint, { ...endpoint, name: unknown }), ["update name"]],
    [
      "a property that was absent",
      ServerlessEndpoint.diff(endpoint, { ...endpoint, networkVolumeId: unknown }),
      ["add networkVolumeId"],
    ],
  ])("%s", (_, changes, lines) => {
    expect(linesOf(changes)).toEqual(lines);
  });
});

describe("the preview of a change", () => {
  test("warns once for all affected properties, or only about the losses of a replacement", () => {
    const changes = ServerlessEndpoint.diff(endpoint, { ...endpoint, gpuCount: 2, workersMax: 5 });
    expect(ServerlessEndpoint.warnings(planned(changes))).toEqual(["gpuCount, workersMax: active workers may restart"]);
    // As the option replaceOnChanges turns it into one.
    const [first, ...others] = changes;
    const replacing = [...others, ...(first ? [{ ...first, replace: true }] : [])];
    expect(ServerlessEndpoint.warnings(planned(replacing))).toEqual([
      "replacing an endpoint permanently deletes its configuration, logs and job history",
    ]);
    const moved = NetworkVolume.diff(volume, { ...volume, dataCenterId: "X" });
    expect(NetworkVolume.warnings(planned(moved))).toEqual(["dataCenterId: a replaced volume loses its data"]);
    const grown = NetworkVolume.diff(volume, { ...volume, size: 99 });
    expect(NetworkVolume.warnings(planned(grown))).toEqual([]);
    const replaced = grown.map((change) => ({ ...change, replace: true }));
    expect(NetworkVolume.warnings(planned(replaced))).toEqual(["size: a replaced volume loses its data"]);
    expect(Template.warnings(planned(Template.diff(template, { ...template, readme: "x" })))).toEqual([]);
  });

  test("warns that endpoints prevent the replacement of a template under the same name", () => {
    const changes = Template.diff(template, { ...template, isServerless: !template["isServerless"] });
    expect(Template.warnings(planned(changes, [{ name: "a" }, { name: "a" }]))).toEqual([
      "replacing a template under the same name deletes the old one first, which fails while an endpoint uses it; " +
        "change or remove the name to create the new one first",
    ]);
    expect(Template.warnings(planned(changes))).toEqual([]);
  });
});

test("outputs match inputs if all contained properties are equal; absent properties are ignored", () => {
  expect(matchesInputs(networkVolumeInputs, { size: 10 }, volume)).toBe(true);
  expect(matchesInputs(networkVolumeInputs, { size: 11, dataCenterId: "EU-RO-1" }, volume)).toBe(false);
  expect(
    matchesInputs(serverlessEndpointInputs, { networkVolumeId: undefined }, { ...endpoint, networkVolumeId: "v" }),
  ).toBe(false);
});

test("names of a map that every object inherits are added and deleted like others", () => {
  const [empty, full] = [{ imageName: "a" }, { imageName: "a", env: { constructor: "c", toString: "t" } }];
  expect(linesOf(Template.diff(empty, full))).toEqual(["add env.constructor", "add env.toString"]);
  expect(linesOf(Template.diff(full, empty))).toEqual(["delete env.constructor", "delete env.toString"]);
});

test("a warning about a replacement appears only if the change is one", () => {
  const olds = { name: "v", size: 10, dataCenterId: "EU-RO-1" };
  const warningsOf = (news: Properties) => NetworkVolume.warnings(planned(NetworkVolume.diff(olds, news, "v2")));
  expect(warningsOf({ ...olds, type: "STANDARD" })).toEqual([]);
  expect(warningsOf({ ...olds, dataCenterId: "US-KS-2" })).toEqual(["dataCenterId: a replaced volume loses its data"]);
});

test("start arguments in another notation are no change of a template", () => {
  const text = { imageName: "a", replaceOnChange: true, dockerArgs: '{"cmd":["serve","x y"]}' };
  const lists = { imageName: "a", replaceOnChange: true, dockerStartCmd: ["serve", "x y"] };
  expect(Template.diff(text, lists)).toEqual([]);
  expect(Template.diff(lists, text)).toEqual([]);
  expect(linesOf(Template.diff(lists, { ...text, dockerArgs: "serve" }))).toContain("update dockerArgs, replace");
  expect(linesOf(Template.diff(lists, { ...lists, dockerStartCmd: unknown }))).toEqual([
    "update dockerStartCmd, replace",
  ]);
});

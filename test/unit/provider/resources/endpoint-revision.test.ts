import { describe, expect, test } from "vitest";
import { type Properties, Unknown } from "../../../../provider/engine/values";
import { kinds } from "../../../../provider/resources";
import { containerKeys } from "../../../../provider/resources/serverless-endpoint/inputs";
import { naming } from "../../../support/naming";

const { ServerlessEndpoint, Template } = kinds;
type Kind = Pick<typeof Template, "check" | "previewOutputs">;
const checked = (kind: Kind, inputs: Properties): Properties => kind.check({}, inputs, naming(), [], "v2").inputs;
/** The revision in the preview of a create. */
const revisionOf = (inputs: Properties, kind: Kind = ServerlessEndpoint) =>
  kind.previewOutputs(undefined, checked(kind, inputs), {})["revision"];

const own = { imageName: "acme/chat:1" };
const bound = { templateId: "t1" };
const settings: Properties = {
  imageName: "acme/chat:2",
  dockerArgs: "--fast",
  dockerEntrypoint: ["sh"],
  dockerStartCmd: ["python", "main.py"],
  env: { MODEL: "small" },
  containerDiskInGb: 20,
  ports: "80/http",
  containerRegistryAuthId: "r1",
};

test("the tables contain every input of the container", () => {
  expect(["templateId", ...Object.keys(settings)].sort()).toEqual([...containerKeys].sort());
});

describe.each([
  ["its own container", own],
  ["a template", bound],
])("the revision of an endpoint with %s", (_, base) => {
  test.each(Object.entries(settings))("changes with %s", (key, value) => {
    expect(revisionOf({ ...base, [key]: value })).toMatch(/^[0-9a-f]{16}$/);
    expect(revisionOf({ ...base, [key]: value })).not.toBe(revisionOf(base));
  });

  test.each<[string, Properties, Properties]>([
    ["spaces in ports", { ports: "80/http, 22/tcp" }, { ports: "80/http,22/tcp" }],
    ["the order of variables", { env: { A: "1", B: "2" } }, { env: { B: "2", A: "1" } }],
    ["the notation of arguments", { dockerStartCmd: ["a"] }, { dockerArgs: '{"entrypoint":[],"cmd":["a"]}' }],
    ["other inputs", { workersMax: 7, gpuTypeIds: ["NVIDIA L4"], name: "other" }, {}],
  ])("does not depend on %s", (_what, one, other) => {
    expect(revisionOf({ ...base, ...one })).toBe(revisionOf({ ...base, ...other }));
  });

  test.each(Object.keys(settings))("is unknown with an unknown %s, and unchanged by an unknown name", (key) => {
    expect(revisionOf({ ...base, [key]: Unknown.value })).toBe(Unknown.value);
    expect(revisionOf({ ...base, name: Unknown.value })).toBe(revisionOf(base));
  });

  test("is added to a state of an earlier version without a change", () => {
    const inputs = checked(ServerlessEndpoint, { ...base, name: "chat" });
    const state = { ...inputs, url: "http://127.0.0.1:9/v2/e1", version: 1 };
    expect(ServerlessEndpoint.diff(state, inputs, "v2")).toEqual([]);
    expect(ServerlessEndpoint.previewOutputs(state, inputs, { id: "e1" })["revision"]).toBe(revisionOf(base));
  });
});

test.each<[string, Properties]>([
  ["the image only", own],
  ["all settings", { ...settings, dockerEntrypoint: [], dockerStartCmd: [] }],
])("without a template, it is the revision of a template with %s", (_, inputs) => {
  expect(revisionOf(inputs)).toBe(revisionOf(inputs, Template));
});

test("it changes with the template, and is secret with a secret input", () => {
  expect(revisionOf({ templateId: "t2" })).not.toBe(revisionOf(bound));
  expect(ServerlessEndpoint.options["revision"]?.secretWith).toEqual(containerKeys);
});

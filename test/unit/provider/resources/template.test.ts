import { describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/lifecycle/contract";
import { kinds } from "../../../../provider/resources";
import { revisionOf } from "../../../../provider/resources/template/revision";
import { propertiesIn, useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";

const bench = await useLifecycleBench();
const { Template } = kinds;

const inputsOf = (name: string, news: Properties = {}): Properties =>
  Template.check({}, { imageName: "acme/chat:1", ...news }, naming(name)).inputs;
const heldTemplate = async (id: string): Promise<Properties> =>
  propertiesIn((await bench.rest("GET", `/templates/${id}`)).json);

describe("a template that cannot be made", () => {
  test("names the object and the way out when the name is already taken", async () => {
    const context = bench.context();
    await Template.create(inputsOf("taken-dev"), context);
    await expect(Template.create(inputsOf("taken-dev"), bench.context())).rejects.toThrow(
      /^Template "taken-dev": the name is already taken in this account .*Set another name/,
    );
    const held = (await bench.held("templates")).map((one) => propertiesIn(one)["name"]);
    expect(held.filter((name) => name === "taken-dev")).toHaveLength(1);
  });

  test("says what the service refused", async () => {
    const news = inputsOf("private-dev", { containerRegistryAuthId: "nosuchauth" });
    await expect(Template.create(news, bench.context())).rejects.toThrow(/^Template "private-dev": .*nosuchauth/);
  });

  test("an update of one that is gone says so", async () => {
    const olds = inputsOf("gone-dev");
    await expect(Template.update("aaaaaaaaaa", olds, { ...olds, readme: "x" }, bench.context())).rejects.toThrow(
      /^Template "gone-dev": it no longer exists: .*pulumi refresh/,
    );
  });
});

test("what was asked for is what the service holds", async () => {
  const inputs = inputsOf("full-dev", {
    containerDiskInGb: 20,
    dockerArgs: "--port 80",
    env: { MODEL: "m", TOKEN: "{{ RUNPOD_SECRET_t }}" },
    ports: "8888/http, 22/tcp",
    readme: "hello",
    volumeMountPath: "/data",
  });
  const { id, outputs } = await Template.create(inputs, bench.context());
  expect(outputs).toEqual({ ...inputs, revision: expect.stringMatching(/^[0-9a-f]{16}$/) });
  expect(await heldTemplate(id)).toMatchObject({
    name: "full-dev",
    imageName: "acme/chat:1",
    containerDiskInGb: 20,
    volumeInGb: 0,
    env: { MODEL: "m", TOKEN: "{{ RUNPOD_SECRET_t }}" },
    readme: "hello",
    volumeMountPath: "/data",
    isServerless: true,
  });
});

test("a create costs one list of what was there and one call each", async () => {
  const context = bench.context();
  await Template.create(inputsOf("one-dev"), context);
  await Template.create(inputsOf("two-dev"), context);
  expect(bench.asked()).toHaveLength(3);
});

test("an update changes what differs in place, a new name too, and clears what was taken back", async () => {
  const first = await Template.create(inputsOf("old-dev", { env: { A: "1" }, readme: "x" }), bench.context());
  const news = inputsOf("new-dev", { imageName: "acme/chat:2" });
  const outputs = await Template.update(first.id, first.outputs, news, bench.context());
  expect(outputs["revision"]).not.toBe(first.outputs["revision"]);
  expect(await heldTemplate(first.id)).toMatchObject({
    name: "new-dev",
    imageName: "acme/chat:2",
    env: {},
    readme: "",
  });
});

describe("a refresh", () => {
  test("of an untouched template answers exactly what was deployed", async () => {
    const inputs = inputsOf("same-dev", { ports: "8888/http, 22/tcp", env: { B: "2", A: "1" } });
    const { id, outputs } = await Template.create(inputs, bench.context());
    expect(await Template.read(id, outputs, bench.context())).toEqual({ id, inputs, outputs });
  });

  test("finds every property that was changed behind our back", async () => {
    const set = { containerDiskInGb: 50, dockerArgs: "", ports: "", readme: "", volumeMountPath: "/workspace" };
    const news = inputsOf("drift-dev", { env: { A: "1" }, ...set });
    const { id, outputs } = await Template.create(news, bench.context());
    const drift = {
      name: "drifted-dev",
      imageName: "acme/other:1",
      containerDiskInGb: 7,
      dockerArgs: "x",
      env: { A: "2", B: "3" },
      ports: "80/http",
      readme: "r",
      volumeMountPath: "/m",
    };
    const variables = { input: { ...drift, id, volumeInGb: 0, isServerless: true, env: [] } };
    await bench.graphql("mutation ($input: SaveTemplateInput!) { saveTemplate(input: $input) { id } }", {
      input: { ...variables.input, env: Object.entries(drift.env).map(([key, value]) => ({ key, value })) },
    });
    const reading = await Template.read(id, outputs, bench.context());
    expect(reading?.inputs).toMatchObject(drift);
    expect(reading?.outputs["revision"]).not.toBe(outputs["revision"]);
    const changed = Template.diff(reading?.outputs ?? {}, news);
    expect(changed.map(({ path }) => path.join(".")).sort()).toEqual(
      [
        "name",
        "imageName",
        "containerDiskInGb",
        "dockerArgs",
        "env.A",
        "env.B",
        "ports",
        "readme",
        "volumeMountPath",
      ].sort(),
    );
  });

  test("of one that is gone answers nothing", async () => {
    expect(await Template.read("aaaaaaaaaa", inputsOf("gone-dev"), bench.context())).toBeUndefined();
  });

  test("without a state, an import, answers all inputs", async () => {
    const inputs = inputsOf("import-dev", { env: { A: "1" } });
    const { id } = await Template.create(inputs, bench.context());
    const { __defaults: _leftOut, ...shown } = inputs;
    expect((await Template.read(id, {}, bench.context()))?.inputs).toEqual(shown);
  });
});

describe("the revision", () => {
  const content = {
    imageName: "a:1",
    dockerArgs: "",
    env: { A: "1", B: "2" },
    ports: "80/http,81/http",
    containerDiskInGb: 5,
    containerRegistryAuthId: undefined,
  };
  test.each([
    ["imageName", "a:2"],
    ["dockerArgs", "x"],
    ["env", { A: "1", B: "3" }],
    ["ports", "80/http"],
    ["containerDiskInGb", 6],
    ["containerRegistryAuthId", "auth"],
  ])("changes with %s", (key, value) => {
    expect(revisionOf({ ...content, [key]: value })).not.toBe(revisionOf(content));
  });
  test("stays when the same is written in another way", () => {
    const same = { ...content, env: { B: "2", A: "1" }, ports: "80/http, 81/http" };
    expect(revisionOf(same)).toBe(revisionOf(content));
  });
});

import { describe, expect, test } from "vitest";
import { kinds } from "../../../../provider/resources";
import { revisionOf } from "../../../../provider/resources/template/revision";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";

const bench = await useLifecycleBench();
const { Template } = kinds;

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

  test("ignores the order of variables and blanks between ports", () => {
    const same = { ...content, env: { B: "2", A: "1" }, ports: "80/http, 81/http" };
    expect(revisionOf(same)).toBe(revisionOf(content));
  });

  test("changes with drift of the content", async () => {
    const inputs = Template.check({}, { imageName: "acme/chat:1" }, naming("drift-dev")).inputs;
    const { id, outputs } = await Template.create(inputs, bench.context());
    expect(outputs["revision"]).toMatch(/^[0-9a-f]{16}$/);
    await bench.rest("PATCH", `/templates/${id}`, { imageName: "acme/other:1" });
    const readResult = await Template.read(id, outputs, bench.context());
    expect(readResult?.outputs["revision"]).not.toBe(outputs["revision"]);
  });
});

test("an import without state returns all inputs", async () => {
  const { __defaults: _notShown, ...inputs } = Template.check(
    {},
    { imageName: "acme/chat:1", env: { A: "1" } },
    naming("import-dev"),
  ).inputs;
  const { id } = await Template.create(inputs, bench.context());
  expect((await Template.read(id, {}, bench.context()))?.inputs).toMatchObject(inputs);
});

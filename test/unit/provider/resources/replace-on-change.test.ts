import { describe, expect, test } from "vitest";
import { type Properties, Unknown } from "../../../../provider/lifecycle/contract";
import { textOf } from "../../../../provider/lifecycle/properties/values";
import { kinds } from "../../../../provider/resources";
import { revisionOf } from "../../../../provider/resources/template/revision";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { stringAt } from "../../../support/raw-http";

const bench = await useLifecycleBench({ templateRelease: 0 });
const { Template } = kinds;

const own = "chat-dev-3fa9c1b";
const checked = (news: Properties, olds: Properties = {}, defaultName = own): Properties => {
  const given = { imageName: "a:1", replaceOnChange: true, ...news };
  const { inputs, failures } = Template.check(olds, given, defaultName);
  expect(failures).toEqual([]);
  return inputs;
};
const nameOf = (inputs: Properties): string => textOf(inputs, "name") ?? "";
const shortRevision = (imageName: string): string =>
  revisionOf({ imageName, dockerArgs: "", env: {}, ports: "", containerDiskInGb: 50 }).slice(0, 8);
const replaced = (olds: Properties, news: Properties): string[] =>
  Template.diff(olds, news).flatMap(({ path, replace }) => (replace ? [path.join(".")] : []));

describe("the name of a template that is replaced on change", () => {
  test("ends in its revision, so a change has another one and the new template is made first", () => {
    const olds = checked({});
    expect(nameOf(olds)).toBe(`${own}-${shortRevision("a:1")}`);
    const news = checked({ imageName: "a:2" }, olds);
    expect(nameOf(news)).toBe(`${own}-${shortRevision("a:2")}`);
    expect(replaced(olds, news)).toEqual(["name", "imageName"]);
    // The engine checks the inputs of a replacement without the old ones.
    expect(checked({ imageName: "a:2" })).toEqual(news);
  });

  test("stays where nothing changes that workers run, also when the option is new or the resource was renamed", () => {
    const plain = Template.check({}, { imageName: "a:1" }, own).inputs;
    expect(nameOf(checked({}, plain))).toBe(own);
    expect(Template.diff(plain, checked({}, plain)).map(({ path }) => path[0])).toEqual(["replaceOnChange"]);
    const first = checked({});
    expect(nameOf(checked({}, first, "talk-dev-1234567"))).toBe(nameOf(first));
    expect(replaced(first, checked({ readme: "more" }, first))).toEqual([]);
  });

  test("of the user's own choice is followed by what no other resource has", () => {
    const mine = checked({ name: "chat" });
    const other = checked({ name: "chat" }, {}, "chat-prod-7654321");
    expect(nameOf(mine)).toMatch(/^chat-[0-9a-f]{8}$/);
    expect(nameOf(mine)).not.toBe(nameOf(other));
    expect(nameOf(checked({ name: "chat" }, mine))).toBe(nameOf(mine));
    const renamed = checked({ name: "talk" }, mine);
    expect(nameOf(renamed)).toMatch(/^talk-/);
    expect(replaced(mine, renamed)).toEqual([]);
    expect(replaced(mine, checked({ name: "chat", imageName: "a:2" }, mine))).toContain("name");
  });

  test("is unknown in a preview that does not know the image, and fits the service's limit", () => {
    const { inputs } = Template.check({}, { imageName: Unknown.value, replaceOnChange: true }, own);
    expect(inputs["name"]).toBe(Unknown.value);
    expect(replaced(checked({}), inputs)).toContain("imageName");
    const long = `${"x".repeat(180)}-3fa9c1b`;
    expect(nameOf(checked({}, {}, long))).toMatch(/-3fa9c1b-[0-9a-f]{8}$/);
    expect(nameOf(checked({}, {}, long))).toHaveLength(191);
  });

  test("stays when somebody changed the template by hand: it is put right in place", async () => {
    const inputs = checked({}, {}, "drift-dev-3fa9c1b");
    const { id, outputs } = await Template.create(inputs, bench.context());
    await bench.rest("PATCH", `/templates/${id}`, { imageName: "b:9" });
    const reading = await Template.read(id, outputs, bench.context());
    const news = checked({}, reading?.outputs, "drift-dev-3fa9c1b");
    expect(Template.diff(reading?.outputs ?? {}, news)).toEqual([
      { path: ["imageName"], kind: "update", replace: false },
    ]);
  });
});

describe("going back to a template that was replaced and is still there", () => {
  test.each([
    ["by default", {}],
    ["of the user's choice", { name: "chat" }],
  ])("takes it into use again, name %s", async (_, given) => {
    const defaultName = "back-dev-3fa9c1b";
    const first = checked(given, {}, defaultName);
    const before = await Template.create(first, bench.context({ defaultName }));
    // An endpoint still runs it, for the version that came after failed.
    const endpoint = { name: "e", templateId: before.id };
    const endpointId = stringAt(await bench.rest("POST", "/endpoints", endpoint), "id");
    const failed = await Template.create(
      checked({ ...given, imageName: "a:2" }, {}, defaultName),
      bench.context({ defaultName }),
    );
    // One process creates the replacement, and deletes those that were replaced.
    const context = bench.context({ defaultName });
    const again = await Template.create(first, context);
    expect(again.id).toBe(before.id);
    await Template.delete(failed.id, failed.outputs, context);
    await Template.delete(before.id, before.outputs, context);
    expect(await bench.held("templates")).toContainEqual(expect.objectContaining({ id: before.id }));
    expect(await bench.held("templates")).not.toContainEqual(expect.objectContaining({ id: failed.id }));
    expect(context.warned).toEqual([]);
    // The next one finds it in the state twice, once to be deleted.
    await Template.delete(before.id, before.outputs, bench.context({ defaultName, staying: new Set([before.id]) }));
    expect(await bench.held("templates")).toContainEqual(expect.objectContaining({ id: before.id }));
    await bench.rest("DELETE", `/endpoints/${endpointId}`);
    await Template.delete(before.id, before.outputs, bench.context({ defaultName }));
    expect(await bench.held("templates")).not.toContainEqual(expect.objectContaining({ id: before.id }));
  });

  test("takes nobody else's of the same name", async () => {
    const name = nameOf(checked({ name: "theirs" }));
    await bench.rest("POST", "/templates", { name, imageName: "other:1", isServerless: true });
    const create = Template.create(checked({ name: "theirs" }), bench.context({ defaultName: own }));
    await expect(create).rejects.toThrow("an object with this name exists");
  });
});

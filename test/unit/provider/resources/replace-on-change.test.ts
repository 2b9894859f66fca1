import { describe, expect, test } from "vitest";
import { type Properties, stringAt, Unknown } from "../../../../provider/engine/values";
import { nameSourceOf } from "../../../../provider/framework/properties/defaults";
import { autoNaming } from "../../../../provider/framework/urn";
import { kinds } from "../../../../provider/resources";
import { revisionOf } from "../../../../provider/resources/template/revision";

const { Template } = kinds;
const urn = "urn:pulumi:dev::shop::serverless-compute:index:Template::chat";

const checked = (news: Properties, olds: Properties = {}): Properties => {
  const input = { imageName: "a:1", replaceOnChange: true, ...news };
  const { inputs, failures } = Template.check(olds, input, autoNaming(urn));
  expect([failures, nameSourceOf(inputs)]).toEqual([[], "random"]);
  return inputs;
};
const nameOf = (inputs: Properties): string => stringAt(inputs, "name") ?? "";
const replaced = (olds: Properties, news: Properties): string[] =>
  Template.diff(olds, news).flatMap(({ path, replace }) => (replace ? [path.join(".")] : []));

describe("a template with replaceOnChange", () => {
  test.each([
    ["a generated name", {}, /^chat-dev-[0-9a-f]{7}$/],
    ["a name of the program", { name: "talk" }, /^talk-[0-9a-f]{7}$/],
  ])(
    "is replaced if the workers' content changes; with %s, the new template has another suffix",
    (_, input, pattern) => {
      const olds = checked(input);
      const news = checked({ ...input, imageName: "a:2" }, olds);
      expect(nameOf(olds)).toMatch(pattern);
      expect(replaced(olds, news)).toEqual(["imageName"]);
      // The engine checks the inputs of a replacement without the old inputs.
      const replacement = checked({ ...input, imageName: "a:2" });
      expect(nameOf(replacement)).toMatch(pattern);
      expect(nameOf(replacement)).not.toBe(nameOf(olds));
    },
  );

  test("keeps its name and is updated in place by any other change", () => {
    const plain = Template.check({}, { imageName: "a:1" }, autoNaming(urn)).inputs;
    expect(nameOf(checked({}, plain))).toBe(nameOf(plain));
    expect(Template.diff(plain, checked({}, plain)).map(({ path }) => path[0])).toEqual(["replaceOnChange"]);
    const first = checked({ name: "talk" });
    const second = checked({ name: "talk", readme: "more" }, first);
    expect(nameOf(second)).toBe(nameOf(first));
    expect(replaced(first, second)).toEqual([]);
    // With ignoreChanges, the engine copies the name in the state.
    expect(nameOf(checked({ name: nameOf(first) }, first))).toBe(nameOf(first));
  });

  test("is renamed in place if the program sets another name", () => {
    const first = checked({ name: "chat" });
    for (const name of ["talk", "chat-2"]) {
      const renamed = checked({ name }, first);
      expect(nameOf(renamed)).toMatch(new RegExp(`^${name}-[0-9a-f]{7}$`));
      expect(replaced(first, renamed)).toEqual([]);
    }
  });

  test("has a name that reveals nothing about its environment", () => {
    const env = { PIN: "1234" };
    const inputs = checked({ env });
    const revision = revisionOf({ imageName: "a:1", dockerArgs: "", env, ports: "", containerDiskInGb: 50 });
    expect(revision).not.toContain(nameOf(inputs).slice(-7));
    expect(nameOf(checked({ env }))).not.toBe(nameOf(inputs));
  });

  test("is replaced in a preview with an unknown image", () => {
    const olds = checked({});
    expect(replaced(olds, checked({ imageName: Unknown.value }, olds))).toEqual(["imageName"]);
  });

  test("keeps a name that is unknown in a preview", () => {
    const { inputs } = Template.check(
      {},
      { imageName: "a:1", replaceOnChange: true, name: Unknown.value },
      autoNaming(urn),
    );
    expect(inputs["name"]).toBe(Unknown.value);
  });
});

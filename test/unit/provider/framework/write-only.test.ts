import { describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/engine/values";
import { checkInputs } from "../../../../provider/framework/properties/check";
import { kinds } from "../../../../provider/resources";
import { naming } from "../../../support/naming";

const linesOf = (kind: "Secret" | "ContainerRegistryAuth", news: Properties, olds: Properties = {}): string[] =>
  checkInputs(kinds[kind].inputs, olds, news, naming("chat-dev")).failures.map(
    ({ path, reason }) => `${path}: ${reason}`,
  );

describe("write-only properties of an imported object", () => {
  test("may be absent if the state has none of them, as with ignoreChanges", () => {
    expect(linesOf("ContainerRegistryAuth", { name: "registry" }, { name: "registry" })).toEqual([]);
    expect(linesOf("Secret", { description: "new" }, { name: "token", description: "" })).toEqual([]);
  });

  test("are required if the object is replaced, because the new object requires them", () => {
    const named = { name: "other" };
    expect(linesOf("Secret", named, { name: "token", description: "" })).toEqual(["value: is required"]);
    expect(linesOf("ContainerRegistryAuth", named, { name: "registry" })).toEqual([
      "username: is required",
      "password: is required",
    ]);
  });

  test("are required together, and in every other case", () => {
    const imported = { name: "registry" };
    expect(linesOf("ContainerRegistryAuth", { password: "p" }, imported)).toEqual(["username: is required"]);
    expect(linesOf("ContainerRegistryAuth", {}, { ...imported, username: "me" })).toHaveLength(2);
    expect(linesOf("Secret", {})).toEqual(["value: is required"]);
  });
});

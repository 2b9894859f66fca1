import { describe, expect, it, test } from "vitest";
import { checkInputs } from "../../../../provider/framework/properties/check";
import { autoNaming } from "../../../../provider/framework/urn";
import { kinds } from "../../../../provider/resources";
import { naming } from "../../../support/naming";

const urnOf = (name = "chat"): string => `urn:pulumi:dev::shop::serverless-compute:index:Template::${name}`;
const nameOf = (urn: string, seed?: Uint8Array) => autoNaming(urn, seed).defaultName?.name;

describe("a generated resource name", () => {
  it("is the same for the same seed, so that an update plan can replay it", () => {
    const seed = Uint8Array.from({ length: 32 }, (_, index) => 0xab + index);
    expect(nameOf(urnOf(), seed)).toBe("chat-dev-abacada");
  });

  it("keeps the suffix if the service's limit truncates the rest", () => {
    expect(nameOf(urnOf("x".repeat(200)))).toMatch(/^x{183}-[0-9a-f]{7}$/);
    // A surrogate pair is removed as a whole.
    expect(nameOf(urnOf(`x${"\u{1F600}".repeat(100)}`))).toMatch(/^x(?:\u{1F600}){91}-[0-9a-f]{7}$/u);
  });

  it("cannot be generated without a URN", () => {
    expect(nameOf("")).toBeUndefined();
  });
});

describe("an omitted name", () => {
  const [volumeInputs, secretInputs] = [kinds.NetworkVolume.inputs, kinds.Secret.inputs];
  const volume = { size: 1, dataCenterId: "EU-RO-1" };
  test("is the default name for a new resource", () => {
    expect(checkInputs(volumeInputs, {}, volume, naming("models-dev")).inputs["name"]).toBe("models-dev");
  });
  test.each([
    ["the default name of an earlier version", "models-dev"],
    ["the default name of another URN, before the resource was renamed", "storage-dev-1234567"],
    ["a name that the program set before", "acme-models"],
  ])("keeps the name in state: %s", (_, name) => {
    for (const defaultName of [naming("models-dev-89abcde"), naming(), undefined])
      expect(checkInputs(volumeInputs, { name }, volume, defaultName).inputs["name"]).toBe(name);
  });
  test("is required if there is no default and no state", () => {
    const { failures } = checkInputs(volumeInputs, {}, volume, undefined);
    expect(failures).toEqual([{ path: "name", reason: "is required" }]);
  });
  test("must be set if the default name is invalid", () => {
    const { failures } = checkInputs(secretInputs, {}, { value: "v" }, naming("hub token-dev"));
    expect(failures).toEqual([
      {
        path: "name",
        reason:
          'is "hub token-dev" by default; must be letters, digits, _, ., - and /, starting with a letter, a digit or _; set a name',
      },
    ]);
  });
  test("has a lower precedence than a name in the program", () => {
    expect(checkInputs(volumeInputs, {}, { ...volume, name: "m" }, naming("models-dev")).inputs["name"]).toBe("m");
  });
});

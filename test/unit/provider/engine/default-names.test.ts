import { describe, expect, it } from "vitest";
import { defaultName, isDefaultName } from "../../../../provider/engine/urn";

const urnOf = ({
  stack = "dev",
  project = "shop",
  types = "serverless-compute:index:Template",
  name = "chat",
}): string => `urn:pulumi:${stack}::${project}::${types}::${name}`;

describe("the name of a resource whose user gives none", () => {
  it("reads as resource and stack, and is the same for ever", () => {
    // Frozen: an interrupted create is found again by its name, by later versions too.
    expect(defaultName(urnOf({}))).toBe("chat-dev-5d88f04");
    expect(defaultName(urnOf({ types: "pulumi-nodejs:dynamic/serverless:Template" }))).toBe("chat-dev-87ace03");
  });

  it("differs in another project, stack, kind, way or below other parents, and for another name", () => {
    const others = [
      urnOf({}),
      urnOf({ project: "shop2" }),
      urnOf({ stack: "prod" }),
      urnOf({ types: "serverless-compute:index:Secret" }),
      urnOf({ types: "pulumi-nodejs:dynamic/serverless:Template" }),
      urnOf({ types: "shop:index:Red$serverless-compute:index:Template" }),
      urnOf({ types: "shop:index:Blue$serverless-compute:index:Template" }),
      urnOf({ name: "chat2" }),
    ];
    const fingerprints = others.map((urn) => defaultName(urn)?.match(/-([0-9a-f]{7})$/)?.[1]);
    expect(new Set(fingerprints).size).toBe(others.length);
    expect(fingerprints).not.toContain(undefined);
  });

  it("keeps the fingerprint where the service's limit cuts the rest", () => {
    const [a, b] = ["a", "b"].map((end) => defaultName(urnOf({ name: `${"x".repeat(200)}${end}` })) ?? "");
    expect([a?.length, b?.length]).toEqual([191, 191]);
    expect(a).toMatch(/^x{183}-[0-9a-f]{7}$/);
    expect(a).not.toBe(b);
    // A character of two units is cut as a whole.
    expect(defaultName(urnOf({ name: `x${"\u{1F600}".repeat(100)}` }))).toMatch(/^x(?:\u{1F600}){91}-[0-9a-f]{7}$/u);
  });

  it("cannot be made without a URN", () => {
    expect(defaultName("")).toBeUndefined();
  });
});

describe("a default name", () => {
  it("is recognised by its resource and stack, whatever its suffix", () => {
    const urn = urnOf({});
    expect(["chat-dev-5d88f04", "chat-dev-0000000"].map((name) => isDefaultName(name, urn))).toEqual([true, true]);
    const others = ["chat-dev", "chat-dev-5d88f0", "chat-dev-5d88f044", "chat-dev-5d88f0g", "chat-prod-5d88f04"];
    for (const name of [...others, "my-chat-dev-5d88f04"]) expect(isDefaultName(name, urn), name).toBe(false);
    const long = urnOf({ name: "x".repeat(200) });
    expect(isDefaultName(defaultName(long) ?? "", long)).toBe(true);
  });
});

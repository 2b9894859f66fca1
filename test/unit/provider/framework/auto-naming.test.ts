import { describe, expect, it } from "vitest";
import { autoNaming } from "../../../../provider/framework/urn";

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

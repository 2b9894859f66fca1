import { expect, it } from "vitest";
import { toProperties } from "../../../../provider/engine/values";

// An undefined or a BigInt in a response makes the engine hang, or fail after the object was created.
it("converts any result of an operation to JSON", () => {
  const result = {
    missing: undefined,
    list: [undefined],
    big: 12n,
    huge: 2n ** 64n,
    day: new Date(0),
    map: new Map([["a", 1]]),
    set: new Set([1]),
    run: () => 1,
  };
  expect(toProperties(result)).toEqual({
    list: [null],
    big: 12,
    huge: "18446744073709551616",
    day: "1970-01-01T00:00:00.000Z",
    map: { a: 1 },
    set: [1],
  });
});

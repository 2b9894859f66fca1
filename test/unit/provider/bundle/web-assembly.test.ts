import { Script } from "node:vm";
import { expect, it } from "vitest";
import { WebAssembly } from "../../../../provider/bundle/web-assembly";

/** A module with a function `f` that returns 42. */
const answer = Uint8Array.from([
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0],
  ...[7, 5, 1, 1, 102, 0, 0, 10, 6, 1, 4, 0, 65, 42, 11],
]);

it("makes modules that run", () => {
  const { exports } = Object(new WebAssembly.Instance(new WebAssembly.Module(answer), {}));
  expect(exports.f()).toBe(42);
});

it.each([
  ["a module", () => new WebAssembly.Module(answer)],
  ["one that is none", () => expect(() => new WebAssembly.Module(Uint8Array.of(1))).toThrow()],
])("leaves code caches as good as they were: %s", (name, make) => {
  const source = "(function () { return 42; })";
  const cachedData = new Script(source).createCachedData();
  make();
  // Under the same name V8 would not look at the cache.
  expect(new Script(source, { cachedData, filename: name }).cachedDataRejected).toBe(false);
});

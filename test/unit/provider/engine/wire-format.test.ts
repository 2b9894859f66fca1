import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { CallFailure } from "../../../../provider/engine/grpc";
import { double, map, message, nested, repeated, text } from "../../../../provider/engine/protobuf";
import { struct } from "../../../../provider/engine/protobuf-struct";
import { engineProperties, roundTrip } from "../../../support/property-sets";

/** Random messages for each property; 25,000 in full runs. */
const numRuns = process.env["FULL"] ? 25_000 : 500;
if (process.env["FULL"]) vi.setConfig({ testTimeout: 600_000 });

test("values outside JSON are encoded as in JSON, and a secret keeps its mark", () => {
  const when = new Date(0);
  const properties = Object.fromEntries(Object.entries({ when, nothing: undefined, list: [undefined] }));
  expect(roundTrip({ ...engineProperties(properties), secretPaths: [["when"]] })).toEqual({
    properties: { when: "1970-01-01T00:00:00.000Z", list: [null] },
    secretPaths: [["when"]],
  });
});

test("a key named __proto__ is an ordinary key", () => {
  const plain = JSON.parse('{"__proto__": {"polluted": true}, "a": 1}');
  const format = message({ properties: struct(1) });
  const { properties = {} } = format.decode(format.encode({ properties: plain }));
  expect(Object.keys(properties)).toEqual(["__proto__", "a"]);
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
});

test("a lone surrogate is not sent, because the engine rejects invalid text", () => {
  const format = message({ word: text(1) });
  expect(format.decode(format.encode({ word: "a\ud800b" }))).toEqual({ word: "a\ufffdb" });
});

const all = message({
  word: text(1),
  number: double(2),
  properties: struct(3),
  words: repeated(text(4)),
  inner: nested(5, message({ word: text(1) })),
  byKey: map(6, message({ word: text(1) })),
});

test("random bytes and truncated messages are rejected as malformed or decoded, without other errors", () => {
  const complete = all.encode({
    word: "abc",
    number: 1.5,
    properties: { a: [1, { b: "c" }] },
    words: ["x", ""],
    inner: { word: "w" },
    byKey: new Map([["k", { word: "v" }]]),
  });
  const decode = (bytes: Uint8Array): void => {
    try {
      all.decode(Buffer.from(bytes));
    } catch (error) {
      expect(error).toBeInstanceOf(CallFailure);
    }
  };
  for (let length = 0; length <= complete.length; length++) decode(complete.subarray(0, length));
  fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), decode), { numRuns });
  const damaged = fc.tuple(fc.nat(complete.length - 1), fc.nat(255)).map(([at, byte]) => {
    const copy = Buffer.from(complete);
    copy[at] = byte;
    return copy;
  });
  fc.assert(fc.property(damaged, decode), { numRuns });
});

test.each([
  ["a length beyond the end", [0x0a, 0x05, 0x61]],
  ["a number that does not end", [0x08, 0xff]],
  ["a number of eleven bytes", [0x38, ...Array.from({ length: 10 }, () => 0xff), 0x01]],
  ["a group", [0x0b, 0x0c]],
  ["a field without a number", [0x02, 0x00]],
])("%s is rejected", (_, bytes) => {
  expect(() => all.decode(Buffer.from(bytes))).toThrow(CallFailure);
});

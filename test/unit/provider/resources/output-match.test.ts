import { describe, expect, test } from "vitest";
import type { Path } from "../../../../provider/engine/values";
import { noSecrets } from "../../../../provider/framework/contract";
import { findMismatches, formatMismatches } from "../../../../provider/resources/job-invoke/output-match";
import { longSecrets } from "../../../support/long-secrets";

const lines = (expected: unknown, actual: unknown): string[] =>
  formatMismatches(findMismatches(expected, actual), noSecrets);

describe("a different output is reported by path", () => {
  test.each<[string, unknown, unknown, string[]]>([
    ["another value", { text: "pong" }, { text: "ping" }, ['output.text: expected "pong", got "ping"']],
    ["a missing property", { text: "pong" }, {}, ['output.text: expected "pong", got nothing']],
    ["no output at all", { text: "pong" }, undefined, ['output: expected {"text":"pong"}, got nothing']],
    ["another type", { n: 1 }, { n: "1" }, ['output.n: expected 1, got "1"']],
    ["null where a value was expected", 1, null, ["output: expected 1, got null"]],
    ["another number than zero", 0, 5, ["output: expected 0, got 5"]],
    ["zero where another number was expected", 5, 0, ["output: expected 5, got 0"]],
    ["an object where text was expected", "a", { a: 1 }, ['output: expected "a", got an object']],
    ["a list of another length", [1, 2], [1], ["output: expected a list of 2, got a list of 1"]],
    [
      "an element",
      { items: [{ id: 1 }, { id: 2 }] },
      { items: [{ id: 1 }, { id: 3 }] },
      ["output.items.1.id: expected 2, got 3"],
    ],
    [
      "elements in another order",
      ["a", "b"],
      ["b", "a"],
      ['output.0: expected "a", got "b"', 'output.1: expected "b", got "a"'],
    ],
    ["a list where an object was expected", { a: 1 }, [1], ['output: expected {"a":1}, got a list of 1']],
    ["a name that every object has", { constructor: 1 }, {}, ["output.constructor: expected 1, got nothing"]],
  ])("%s", (_, expected, actual, expectedLines) => {
    expect(lines(expected, actual)).toEqual(expectedLines);
  });

  test("many differences are truncated", () => {
    const expected = (length: number) => Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, 1]));
    const reported = lines(expected(30), {});
    expect(reported).toHaveLength(21);
    expect(reported.at(-1)).toBe("and 10 more");
    expect(lines(expected(20), {}).at(-1)).toBe("output.k19: expected 1, got nothing");
  });
});

describe("the report of a different output does not reveal a secret", () => {
  const secret = longSecrets().jwt;
  const [expected, actual] = [
    { token: secret, n: 1 },
    { token: `${secret}x`, n: "2".repeat(90) },
  ];

  test.each<[string, Path[], string[]]>([
    [
      "in the expectation",
      [["expect", "output", "token"]],
      ["output.token: expected [secret], got [secret]", "output.n: expected 1, got [secret]"],
    ],
    [
      "if the whole expectation is secret",
      [["expect"]],
      ["output.token: expected [secret], got [secret]", "output.n: expected [secret], got [secret]"],
    ],
    [
      "in the input",
      [["input", "a"]],
      [`output.token: expected "${secret.slice(0, 76)}…, got [secret]`, "output.n: expected 1, got [secret]"],
    ],
    [
      "in another property",
      [["endpointId"]],
      ['output.token: expected "[secret]", got "[secret]x"', `output.n: expected 1, got "${"2".repeat(76)}…`],
    ],
  ])("%s", (_, paths, expectedLines) => {
    const values = paths.flat().includes("endpointId") ? [secret] : [];
    expect(formatMismatches(findMismatches(expected, actual), { paths, values })).toEqual(expectedLines);
  });

  test("an object that contains a secret is hidden", () => {
    const lines = formatMismatches(findMismatches({ a: { token: secret } }, { a: 1 }), {
      paths: [["expect", "output", "a", "token"]],
      values: [],
    });
    expect(lines).toEqual(["output.a: expected [secret], got [secret]"]);
  });
});

describe("an output may contain more than expected", () => {
  test.each<[string, unknown, unknown]>([
    ["equal values", "pong", "pong"],
    ["more properties", { text: "pong" }, { text: "pong", took: 3 }],
    ["more properties deep inside lists", [{ a: { b: 1 } }], [{ a: { b: 1, c: 2 }, d: 3 }]],
    ["an empty object matches any object", {}, { a: 1 }],
    ["null is null", { a: null }, { a: null }],
    ["zero and minus zero", 0, -0],
  ])("%s", (_, expected, actual) => {
    expect(lines(expected, actual)).toEqual([]);
  });
});

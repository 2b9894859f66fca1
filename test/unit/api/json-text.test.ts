import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { elementTexts, isObjectText, JsonTextError, maxNesting, memberTexts } from "../../../api/json-text";

const parsed = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
};
const accepts = (text: string): boolean => {
  try {
    memberTexts(text);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(JsonTextError);
    return false;
  }
};
/** The object or list, reassembled from its texts; `__proto__` becomes an ordinary member. */
const joined = (text: string): unknown => {
  const members = memberTexts(text);
  if (members) return Object.fromEntries([...members].map(([name, value]) => [name, JSON.parse(value)]));
  const elements = elementTexts(text);
  return elements ? elements.map((element) => JSON.parse(element)) : JSON.parse(text);
};

describe("members of an object", () => {
  test("are returned unchanged, without surrounding blanks", () => {
    const text = '\n{ "a" :\t12345678901234567891 , "b":[ 1.0,\r\n 1E5 ],"c": -0.0,"d":"\\u0041\\/" , "e":{}}  ';
    expect([...(memberTexts(text) ?? [])]).toEqual([
      ["a", "12345678901234567891"],
      ["b", "[ 1.0,\r\n 1E5 ]"],
      ["c", "-0.0"],
      ["d", '"\\u0041\\/"'],
      ["e", "{}"],
    ]);
  });

  test("of the same name: the last counts, in any notation of the name", () => {
    expect([...(memberTexts('{"input":1,"x":2,"\\u0069nput":3}') ?? [])]).toEqual([
      ["input", "3"],
      ["x", "2"],
    ]);
  });

  test("may be called __proto__, at any depth", () => {
    const text = '{"__proto__":{"__proto__":[1.0]},"constructor":2}';
    expect(memberTexts(text)?.get("__proto__")).toBe('{"__proto__":[1.0]}');
    expect(memberTexts(text)?.get("constructor")).toBe("2");
  });

  test("are only the members of the outermost object", () => {
    expect([...(memberTexts('{"a":{"b":{"a":1}},"c":[{"d":1}]}')?.keys() ?? [])]).toEqual(["a", "c"]);
  });

  test.each([["[]"], ["7"], ['"{}"'], ["null"], [" [{}] "]])("are undefined for %s", (text) => {
    expect(memberTexts(text)).toBeUndefined();
  });
});

test("the elements of a list are returned unchanged", () => {
  expect(elementTexts('[ 1.0, [2 , 3] ,{"a": 1},"x"]')).toEqual(["1.0", "[2 , 3]", '{"a": 1}', '"x"']);
  expect(elementTexts("[]")).toEqual([]);
  expect(elementTexts("{}")).toBeUndefined();
});

test("the text of an object is distinguished from other values", () => {
  expect(["{}", "[]", '"{"', "1", undefined].map(isObjectText)).toEqual([true, false, false, false, false]);
});

describe("nesting", () => {
  const lists = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  const objects = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

  test.each([200, maxNesting])("%i levels are read", (depth) => {
    expect(elementTexts(lists(depth))).toEqual([lists(depth - 1)]);
    expect(memberTexts(objects(depth))?.get("a")).toBe(objects(depth - 1));
  });

  test.each([maxNesting + 1, 100_000])("%i levels are rejected with a clear message", (depth) => {
    for (const text of [lists(depth), objects(depth), "[".repeat(depth)])
      expect(() => memberTexts(text)).toThrow(/^must not nest deeper than 1000 levels$/);
  });
});

describe("text that is not JSON", () => {
  test.each([
    ["", "it ends unexpectedly"],
    ['{"a', "it ends unexpectedly"],
    ['{"a":1}}', "character 8 is unexpected"],
    ["{'a':1}", "character 2 is unexpected"],
    ["[1,]", "character 4 is unexpected"],
    ["[1}", "character 3 is unexpected"],
    ['{"a" 1}', "character 6 is unexpected"],
    ['"\\x"', "character 2 is unexpected"],
    ['"a\nb"', "character 3 is unexpected"],
    ["01", "character 2 is unexpected"],
    ["1.", "character 2 is unexpected"],
    ["-", "character 1 is unexpected"],
    ["nul", "character 1 is unexpected"],
    ["\u00a01", "character 1 is unexpected"],
    ["\ufeff1", "character 1 is unexpected"],
  ])("%j is rejected: %s", (text, words) => {
    expect(parsed(text)).toBeUndefined();
    expect(() => memberTexts(text)).toThrow(words);
  });
});

describe("compared with JSON.parse", () => {
  const runs = { numRuns: process.env["FULL"] ? 10_000 : 1000 };
  const blank = fc.constantFrom("", "", " ", "\n", "\t", "\r\n");
  const scalar = fc.oneof(
    fc.constantFrom("0", "-0.0", "1E5", "1.0", "12345678901234567891", "-1e-7", "true", "false", "null", '""'),
    fc.string({ unit: process.env["FULL"] ? "binary" : "grapheme" }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"\\u0041"', '"\\/"', '"\\ud800"', '"__proto__"', '"\\\\"', '"\\""', '"[{"'),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  );
  const name = fc.constantFrom('"a"', '"\\u0061"', '"input"', '"\\u0069nput"', '"__proto__"', '""', '"\\"}"');
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      scalar,
      fc.array(fc.tuple(blank, tie("value"), blank)).map((all) => `[${all.map((parts) => parts.join("")).join(",")}]`),
      fc
        .array(fc.tuple(blank, name, blank, tie("value"), blank))
        .map((all) => `{${all.map(([a, key, b, member, c]) => `${a}${key}${b}:${b}${member}${c}`).join(",")}}`),
    ),
  }));
  const text = fc.tuple(blank, value, blank).map((parts) => parts.join(""));

  test("valid texts have the same values", () => {
    fc.assert(
      fc.property(text, (json) => {
        expect(joined(json)).toEqual(JSON.parse(json));
      }),
      runs,
    );
  });

  test("damaged texts are accepted if and only if JSON.parse accepts them", () => {
    const piece = fc.constantFrom(...'{}[]:,"\\-+.eE019tfn u\n\u0000\u007f\u2028', "true", "null", '"a"', "\\u00");
    const damaged = fc
      .tuple(text, fc.nat(), fc.nat({ max: 3 }), fc.array(piece, { maxLength: 3 }))
      .map(([json, at, cut, put]) => {
        const place = at % (json.length + 1);
        return json.slice(0, place) + put.join("") + json.slice(place + cut);
      });
    const noise = fc.array(piece, { maxLength: 12 }).map((all) => all.join(""));
    fc.assert(
      fc.property(fc.oneof(damaged, noise), (json) => {
        const expected = parsed(json);
        expect(accepts(json)).toBe(expected !== undefined);
        if (expected) expect(joined(json)).toEqual(expected.value);
      }),
      runs,
    );
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exactBodyOf } from "../../../api/exact-numbers";

/** The significant digits of an integer in plain or exponential form. */
const decimalDigits = (text: string): string => text.replace(/e.*$/, "").replace(/[-.]/g, "").replace(/0+$/, "");

const exactly = (text: string): unknown => exactBodyOf({ text, body: JSON.parse(text) });

describe("a JSON number", () => {
  test.each([
    ["an integer", "12345678901234567890"],
    ["a negative integer", "-12345678901234567890"],
    ["the first integer that is not representable", "9007199254740993"],
    ["an integer with a fraction", "12345678901234567890.5"],
    ["an integer with an exponent", "1.2345678901234567890e19"],
    ["a number above the range", "1e400"],
    ["a number below the range", "-1E+400"],
    ["a number too close to 0", "1e-400"],
    ["a number too close to 0, in digits", `0.${"0".repeat(400)}1`],
    ["a number with a huge exponent", "1e99999999999999999999"],
  ])("that would change is text with its digits: %s", (_which, number) => {
    expect(exactly(number)).toBe(number);
    expect(exactly(`{"a": [1, {"b\\\\": ${number}}, "c\\"${number}"], "${number}": 2}`)).toEqual({
      a: [1, { "b\\": number }, `c"${number}`],
      [number]: 2,
    });
  });

  test.each([
    "9007199254740992",
    "1e23",
    "1.7976931348623157e308",
    "5e-324",
    "-0",
    "0e999",
    "0.000",
    "100000000000000000000",
  ])("that keeps its value is a number: %s", (number) => expect(exactly(`[${number}]`)).toEqual([Number(number)]));

  test.each(["0.1000000000000000055511151231257827", "0.10000000000000001", "123456789.12345678901"])(
    "with a fraction is rounded: %s",
    (number) => expect(exactly(`[${number}]`)).toEqual([Number(number)]),
  );
});

test("a value of JavaScript is unchanged", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const text = JSON.stringify(value);
      expect(exactly(text)).toEqual(JSON.parse(text));
    }),
    { seed: 6, numRuns: 500 },
  );
});

test("an integer of any size keeps its digits, as a number or as text", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.string(), (integer, key) => {
      const body = exactly(`{${JSON.stringify(key)}:[[${integer}]]}`);
      const value: unknown = Object.values(body instanceof Object ? body : {}).flat(2)[0];
      if (Number.isSafeInteger(Number(integer))) expect(value).toBe(Number(integer));
      else expect([String(integer), Number(integer)]).toContain(value);
      // A number is kept only if its shortest form has the same digits.
      if (typeof value === "number") expect(decimalDigits(String(value))).toBe(decimalDigits(String(integer)));
    }),
    { seed: 6, numRuns: 500 },
  );
});

test("a text of 10 MB with escapes and numbers is converted", () => {
  const text = '\\"1\\n'.repeat(2_000_000);
  expect(exactly(`["${text}",12345678901234567890]`)).toEqual(['"1\n'.repeat(2_000_000), "12345678901234567890"]);
});

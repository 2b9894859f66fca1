import fc from "fast-check";
import { expect, test } from "vitest";
import { splitCommandLine } from "../../../../service/workers/command-line";

test.each([
  ["node handler.mjs", ["node", "handler.mjs"]],
  ["  python3   -u\thandler.py ", ["python3", "-u", "handler.py"]],
  ["run 'a b' \"c d\"", ["run", "a b", "c d"]],
  [`say "it's" 'a "word"'`, ["say", "it's", 'a "word"']],
  [String.raw`a\ b "c\"d" 'e\f' "g\h"`, ["a b", 'c"d', String.raw`e\f`, String.raw`g\h`]],
  ["--name=''x''", ["--name=x"]],
  ["a '' \"\"", ["a", "", ""]],
  ["echo $HOME `id` ; rm *", ["echo", "$HOME", "`id`", ";", "rm", "*"]],
  ["", []],
])("splits %j", (line, words) => {
  expect(splitCommandLine(line)).toEqual(words);
});

test.each([
  ["a 'b", "quote (') that is not closed"],
  ['a "b', 'quote (") that is not closed'],
  ["a\\", "ends with a backslash"],
])("rejects %j with the reason", (line, reason) => {
  expect(() => splitCommandLine(line)).toThrow(reason);
});

test("splitting reverses quoting for any words", () => {
  const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;
  fc.assert(
    fc.property(fc.array(fc.string()), (words) => {
      expect(splitCommandLine(words.map(quote).join(" "))).toEqual(words);
    }),
    { numRuns: 200 },
  );
});

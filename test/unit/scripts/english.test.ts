import { expect, test } from "vitest";
import { findingsIn } from "../../../scripts/docs/english.mjs";

const rulesIn = (path: string, text: string): string[] => findingsIn(path, text).map(({ rule }) => rule);

test.each([
  "/** What a worker runs. */",
  "/**\n * Whether the job has ended.\n */",
  "// The service says so.",
  "/** Reads a value that nobody set. */",
  "/** A list is no object. */",
  'const text = "the service says so";',
])("reports the comment or message %j", (text) => {
  expect(rulesIn("api/x.ts", text)).toHaveLength(1);
});

test.each([
  "/** Command that a worker runs. */",
  'const state = "asks for more";',
  "const url = 'http://127.0.0.1/answers';",
  "/** There is no limit. It is no longer than `says`. */",
])("accepts the program %j", (text) => {
  expect(rulesIn("api/x.ts", text)).toEqual([]);
});

test("reads the descriptions of the schema", () => {
  const schema = JSON.stringify({ description: "Nobody reads it.", name: "nobody" });
  expect(rulesIn("schema.json", schema.replaceAll(":", ": "))).toHaveLength(1);
});

test("reads paragraphs, list items and table cells of a page, but not code and comments", () => {
  const page =
    "Text\nthat asks.\n\n- An item\n  that asks.\n\n| a | asks |\n\n```sh\nasks\n```\n\n<!-- asks --> `asks` [x](asks.md)\n";
  expect(findingsIn("docs/x.md", page).map(({ line }) => line)).toEqual([1, 4, 7]);
});

test("reports sentences of more than 35 words in pages", () => {
  const words = (count: number): string => Array(count).fill("word").join(" ");
  expect(rulesIn("docs/x.md", `${words(35)}. ${words(35)}.`)).toEqual([]);
  expect(rulesIn("docs/x.md", `${words(3)}. ${words(36)}.`)).toEqual(["over 35 words"]);
});

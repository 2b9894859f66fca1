import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8");

/** The titles of the page are parts of messages; test/faults/messages.test.ts holds the list of messages to what is printed. */
test("the page of troubleshooting has only titles that are parts of real messages", () => {
  const messages = read("test/faults/messages.md");
  const titles = [...read("docs/guides/troubleshooting.md").matchAll(/^### (.+)$/gm)].map(([, title = ""]) => title);
  expect(titles.length).toBeGreaterThan(15);
  const isThere = (title: string): boolean => title.split("…").every((part) => messages.includes(part.trim()));
  expect(titles.filter((title) => !isThere(title))).toEqual([]);
});

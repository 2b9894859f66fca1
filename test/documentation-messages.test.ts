import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { helpTitles, withHelp } from "../provider/verbs/help";
import { parsePage } from "../scripts/docs/pages.mjs";

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8");

/** Titles of the page are parts of messages; test/faults/messages.test.ts checks the list of messages. */
test("the troubleshooting page contains only titles that are part of real messages", () => {
  const messages = read("test/faults/messages.md");
  const titles = [...read("docs/guides/troubleshooting.md").matchAll(/^### (.+)$/gm)].map(([, title = ""]) => title);
  expect(titles.length).toBeGreaterThan(15);
  const exists = (title: string): boolean => title.split("…").every((part) => messages.includes(part.trim()));
  expect(titles.filter((title) => !exists(title))).toEqual([]);
});

test("messages link to existing titles, each title has a message, and without published pages there is no link", () => {
  const messages = read("test/faults/messages.md");
  const page = "docs/guides/troubleshooting.md";
  const { anchors } = parsePage(page, read(page));
  const links = helpTitles.map((title) => withHelp(title, "https://pages.example/docs"));
  const prefix = `\nHelp: https://pages.example/${page}#`;
  expect(links.filter((link) => !anchors.has(link.split(prefix)[1] ?? ""))).toEqual([]);
  expect(helpTitles.filter((title) => !messages.includes(title))).toEqual([]);
  expect(withHelp(`Secret "a": ${helpTitles[0]}.`, undefined)).toBe(`Secret "a": ${helpTitles[0]}.`);
  expect(withHelp("size: cannot shrink", "https://pages.example/docs")).toBe("size: cannot shrink");
});

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type HelpKey, helpTitles, withHelp } from "../provider/framework/help";
import { parsePage, readPages } from "../scripts/docs/pages.mjs";
import { resourceTexts } from "../scripts/generate/resource-texts.mjs";

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8");

/** Titles of the page are parts of messages; test/faults/messages.test.ts checks the list of messages. */
test("the troubleshooting page contains only titles that are part of real messages", () => {
  const messages = read("test/faults/messages.md");
  const titles = [...read("docs/guides/troubleshooting.md").matchAll(/^### (.+)$/gm)].map(([, title = ""]) => title);
  expect(titles.length).toBeGreaterThan(15);
  const exists = (title: string): boolean => title.split("…").every((part) => messages.includes(part.trim()));
  expect(titles.filter((title) => !exists(title))).toEqual([]);
});

test("the pages of resources contain only parts of real messages", () => {
  const messages = read("test/faults/messages.md");
  const parts = Object.values(resourceTexts).flatMap(({ errors }) => errors.map(([part]) => part));
  expect(parts.length).toBeGreaterThan(15);
  expect(parts.filter((part) => !messages.includes(part))).toEqual([]);
});

test("messages link to existing titles, each title has a message, and without published pages there is no link", () => {
  const messages = read("test/faults/messages.md");
  const page = "docs/guides/troubleshooting.md";
  const { anchors } = parsePage(page, read(page));
  const isKey = (key: string): key is HelpKey => Object.hasOwn(helpTitles, key);
  const keys = Object.keys(helpTitles).filter(isKey);
  const links = keys.map((key) => withHelp("", key, "https://pages.example/docs"));
  const prefix = `\nHelp: https://pages.example/${page}#`;
  expect(links.filter((link) => !anchors.has(link.split(prefix)[1] ?? ""))).toEqual([]);
  expect(Object.values(helpTitles).filter((title) => !messages.includes(title))).toEqual([]);
  const message = `Secret "a": ${helpTitles.key}.`;
  expect(withHelp(message, "key", undefined)).toBe(message);
  // The words of a title alone are no key, because handlers write them as well.
  expect(withHelp(message, undefined, "https://pages.example/docs")).toBe(message);
});

const pages = readPages(fileURLToPath(new URL("..", import.meta.url)));

test("the site's sidebar contains each page except those reached through others", () => {
  const config = readFileSync(new URL("../docs/.vitepress/config.mts", import.meta.url), "utf8");
  const expectedPage = pages
    .map(({ path }) => path)
    .filter((path) => /^docs\/(?!start\/|decisions\/).*(?<!README)\.md$/.test(path));
  expect(expectedPage.length).toBeGreaterThan(20);
  expect(expectedPage.filter((path) => !config.includes(`"${path.slice("docs".length, -".md".length)}"`))).toEqual([]);
});

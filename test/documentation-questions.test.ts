import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readPages } from "../scripts/docs/pages.mjs";

const pages = readPages(fileURLToPath(new URL("..", import.meta.url)));

/** Frequent first questions and the headings under which readers find them. */
const questions: [question: string, page: string, heading: string][] = [
  ["how do I smoke-test", "docs/guides/smoke-tests.md", "smoke-test-an-endpoint-after-each-deployment"],
  ["what happens when I destroy a used template", "docs/guides/templates-in-use.md", "delete"],
  ["how do I preview in a pull request", "docs/guides/pull-requests.md", "the-preview-as-a-comment"],
  ["how do I use my own image locally", "docs/guides/local-development.md", "use-your-own-image"],
  ["what does it cost to leave this running", "docs/guides/costs.md", "costs-of-a-running-stack"],
];

/** Pages linked from a page. */
function linkedFrom(path: string): string[] {
  const links = pages.find((page) => page.path === path)?.links ?? [];
  return links
    .map(({ target }) => target.split("#")[0] ?? "")
    .filter((file) => file !== "" && !file.includes(":"))
    .map((file) => posix.normalize(posix.join(posix.dirname(path), file)));
}

describe.each(["README.md", "docs/guides/README.md"])("from %s", (start) => {
  test.each(questions)("two clicks lead to: %s", (_question, page, heading) => {
    const once = linkedFrom(start);
    const twice = once.flatMap(linkedFrom);
    expect([...once, ...twice]).toContain(page);
    expect([...(pages.find(({ path }) => path === page)?.anchors ?? [])]).toContain(heading);
  });
});

test("the site's sidebar contains each page except those reached through others", () => {
  const config = readFileSync(new URL("../docs/.vitepress/config.mts", import.meta.url), "utf8");
  const expectedPage = pages
    .map(({ path }) => path)
    .filter((path) => /^docs\/(?!start\/|decisions\/).*(?<!README)\.md$/.test(path));
  expect(expectedPage.length).toBeGreaterThan(20);
  expect(expectedPage.filter((path) => !config.includes(`"${path.slice("docs".length, -".md".length)}"`))).toEqual([]);
});

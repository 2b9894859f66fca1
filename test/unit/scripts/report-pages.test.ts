import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { conformancePage } from "../../conformance/page.mjs";
import { readReadings, tagPrefix } from "../../conformance/readings.mjs";
import { clientsPage } from "../../sdk/page.mjs";

const tests = fileURLToPath(new URL("../..", import.meta.url));
const sources = readdirSync(tests, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts") && path !== join("unit", "scripts", "report-pages.test.ts"))
  .map((path) => readFileSync(join(tests, path), "utf8"));

test("a row of the page names its interpretation, if any", () => {
  const row = { ancestorTitles: ["Limits"], status: "passed" };
  const report = {
    testResults: [
      {
        name: "/somewhere/limits.test.ts",
        assertionResults: [
          { ...row, title: "10 MB | are accepted", tags: ["reading:megabyte", "slow"] },
          { ...row, title: "the rest", status: "failed", tags: [] },
        ],
      },
    ],
  };
  const page = conformancePage(report, "the local service", "## Contract\n");
  expect(page).toContain("1 of 2 rows hold.");
  expect(page).toContain(
    "| 10 MB \\| are accepted | limits | [megabyte](service-api.md#readings) | holds |\n| the rest | limits |  | **does not hold** |",
  );
});

test("an interpretation without a name or a reason is rejected", () => {
  const table = (row: string) =>
    `## Readings\n\n| name | rule | reading | reason |\n|---|---|---|---|\n${row}\n\n## Next\n`;
  expect(readReadings(table("| `a` | b | c | d |"))).toEqual([{ name: "a", rule: "b", reading: "c", reason: "d" }]);
  expect(() => readReadings(table("| `a` | b | c |"))).toThrow("0 of 1 rows");
  expect(() => readReadings("## Readings\n")).toThrow("Readings");
});

test.each(readReadings().map(({ name }) => name))("a test uses the interpretation %s", (name) => {
  expect(sources.filter((text) => text.includes(`${tagPrefix}${name}"`))).not.toEqual([]);
});

const report = (results: { suite: string; title: string; status?: string }[]) => ({
  testResults: [
    {
      name: "/somewhere/client.test.ts",
      assertionResults: results.map(({ suite, title, status = "passed" }) => ({
        ancestorTitles: [suite],
        title,
        status,
      })),
    },
  ],
});
const rowsOf = (page: string): string[] => page.split("\n").filter((line) => line.startsWith("| n"));

test("the page has one row per client and part, with the number of passed operations and the names of all others", () => {
  const page = clientsPage(
    report([
      { suite: "npm two 2.0.0: REST v1", title: "run, stop" },
      { suite: "npm one 1.0.0", title: "list-all, sub get, list with flags" },
      { suite: "npm one 1.0.0", title: "keeps an input, however large" },
      { suite: "npm two 2.0.0: REST v1", title: "cancel", status: "failed" },
      { suite: "npm two 2.0.0: under injected faults", title: "delay" },
      { suite: "npm two 2.0.0: REST v1", title: "purge, health", status: "skipped" },
      { suite: "npm two 2.0.0: REST v1", title: "does not work: pod create, pod stop (the service has no pods)" },
    ]),
  );
  expect(rowsOf(page)).toEqual([
    "| npm one | 1.0.0 |  | all 4 |  |",
    "| npm two | 2.0.0 | REST v1 | 2 of 7 | `pod create, pod stop` (the service has no pods); **fails**: `cancel`; not run: `health, purge` |",
  ]);
  expect(page).toContain("- npm one 1.0.0: `list with flags, list-all, sub get`\n  - keeps an input, however large\n");
  expect(page).toContain("- npm two 2.0.0, REST v1: `run, stop`\n");
});

test("an operation in several tests passes only if all of them pass", () => {
  const suite = "npm one 1.0.0";
  const page = clientsPage(
    report([
      { suite, title: "run, stop" },
      { suite, title: "run", status: "failed" },
    ]),
  );
  expect(rowsOf(page)).toEqual(["| npm one | 1.0.0 |  | 1 of 2 | **fails**: `run` |"]);
});

test("a client that is missing from a registry has a row with the reason", () => {
  const page = clientsPage(
    report([
      { suite: "npm one 1.0.0", title: "run, stop", status: "skipped" },
      { suite: "npm one 1.0.0", title: "not run: the registry does not provide it", status: "skipped" },
    ]),
  );
  expect(rowsOf(page)).toEqual(["| npm one | 1.0.0 |  | none | not run: the registry does not provide it |"]);
});

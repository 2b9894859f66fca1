import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { conformancePage } from "../../conformance/page.mjs";
import { readReadings, tagPrefix } from "../../conformance/readings.mjs";

const tests = fileURLToPath(new URL("../..", import.meta.url));
const sources = readdirSync(tests, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts") && path !== join("unit", "scripts", "conformance-page.test.ts"))
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

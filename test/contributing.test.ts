import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const repository = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

const [, table = ""] = readFileSync(repository("CONTRIBUTING.md"), "utf8").split(
  "| to change | look in |\n|---|---|\n",
);
const rows = [...(table.split("\n\n")[0] ?? "").matchAll(/^\| (.+) \| (.+) \|$/gm)].map(
  ([, change = "", places = ""]) => ({
    change,
    /** Paths in backticks, without commands. */
    paths: [...places.matchAll(/`([\w.-]+\/[\w./-]*)`/g)].map(([, path = ""]) => path),
  }),
);

describe("the map of CONTRIBUTING", () => {
  test("names existing files and folders", () => {
    const paths = rows.flatMap((row) => row.paths);
    expect(paths.length).toBeGreaterThan(15);
    expect(paths.filter((path) => !existsSync(repository(path)))).toEqual([]);
  });

  test.each([
    ["a default of a Template", /containerDiskInGb: .*\.default\(/],
    ["the text of an error, for example of an object that is in use", /inUse: .*still in use/],
    ["how often a template's release is polled", /const pollInterval = /],
    ["what a preview shows for an endpoint's url", /\burl: z[\s\S]*?derive: [\s\S]*?jobApiRoot/],
  ])("contains a row for %s", (change, code) => {
    const [path = ""] = rows.find((row) => row.change.includes(change))?.paths ?? [];
    expect(readFileSync(repository(path), "utf8")).toMatch(code);
  });
});

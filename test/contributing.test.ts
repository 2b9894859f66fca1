import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const repository = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

test("the map of CONTRIBUTING names existing files and folders", () => {
  const heading = "| to change | look in |\n|---|---|\n";
  const [, table = ""] = readFileSync(repository("CONTRIBUTING.md"), "utf8").split(heading);
  const [rows = ""] = table.split("\n\n");
  // Paths in backticks, without commands.
  const paths = [...rows.matchAll(/`([\w.-]+\/[\w./-]*)`/g)].map(([, path = ""]) => path);
  expect(paths.length).toBeGreaterThan(15);
  expect(paths.filter((path) => !existsSync(repository(path)))).toEqual([]);
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../../scripts/entry.mjs";

/** Names of our packages, which are not published yet. */
const own = /^(@[\w-]+\/)?(pulumi-serverless-compute|serverless-compute-|pulumi_serverless_compute)/;

test("examples depend on no package of ours by name, because `npm run add` installs them", () => {
  const folders = readdirSync(join(root, "examples"));
  const requirements = folders.flatMap((folder) =>
    readdirSync(join(root, "examples", folder.endsWith(".md") ? "" : folder))
      .filter((name) => name === "package.json" || name === "requirements.txt")
      .map((name) => `examples/${folder}/${name}`),
  );
  expect(requirements.length).toBeGreaterThan(10);
  const dependenciesOf = (path: string): [string, string][] => {
    const text = readFileSync(join(root, path), "utf8");
    if (!path.endsWith(".json")) return text.split("\n").map((line) => [line, ""]);
    const { dependencies, devDependencies } = JSON.parse(text);
    return Object.entries({ ...dependencies, ...devDependencies }).map(([name, range]) => [name, String(range)]);
  };
  const unowned = requirements.flatMap((path) =>
    dependenciesOf(path)
      .filter(([name, range]) => own.test(name) && !range.startsWith("file:"))
      .map(([name]) => `${path}: ${name}`),
  );
  expect(unowned).toEqual([]);
});

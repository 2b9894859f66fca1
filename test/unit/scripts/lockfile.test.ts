import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

interface LockedPackage {
  optionalDependencies?: Record<string, string>;
}

test("the lockfile names every platform's packages, or `npm ci` would refuse it in a clean clone", () => {
  const text = readFileSync(join(__dirname, "../../../package-lock.json"), "utf8");
  const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(text);
  const paths = Object.keys(packages);
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !paths.some((known) => known.endsWith(`node_modules/${name}`)))
      .map((name) => `${name}, of ${path}`),
  );
  expect(missing).toEqual([]);
});

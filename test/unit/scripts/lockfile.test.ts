import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

interface LockedPackage {
  optionalDependencies?: Record<string, string>;
}

const root = join(__dirname, "../../..");

test("the root overrides no version, because users would install other versions than the tests", () => {
  const manifest: Record<string, unknown> = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(manifest).not.toHaveProperty("overrides");
});

test.each(["package-lock.json", "docs/package-lock.json"])(
  "%s lists every platform's packages, as `npm ci` requires in a clean clone",
  (path) => {
    const text = readFileSync(join(root, path), "utf8");
    const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(text);
    const paths = Object.keys(packages);
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !paths.some((known) => known.endsWith(`node_modules/${name}`)))
        .map((name) => `${name}, of ${path}`),
    );
    expect(missing).toEqual([]);
  },
);

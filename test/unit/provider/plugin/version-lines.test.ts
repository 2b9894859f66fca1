import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { run } from "../../../../scripts/child.mjs";
import { root } from "../../../../scripts/entry.mjs";

const folder = "pulumi-serverless-compute/bin";
const { version } = JSON.parse(readFileSync(join(root, "provider/package.json"), "utf8"));

it("the package version follows every line that names the plugin's folder", async () => {
  const { stdout } = await run("git", ["ls-files", "*.md", "*.yaml"], { cwd: root });
  const texts = stdout
    .split("\n")
    .flatMap((path) => (path ? [[path, readFileSync(join(root, path), "utf8")] as const] : []));
  const leading = texts.filter(([, text]) => text.includes(`path: node_modules/${folder}`));
  expect(leading.length).toBeGreaterThanOrEqual(5);
  for (const [path, text] of leading) {
    const versions = [
      ...text.matchAll(/^ +path: node_modules\/pulumi-serverless-compute\/bin\n(?: +version: (\S+))?/gm),
    ];
    expect(
      versions.map(([, found]) => found),
      path,
    ).toEqual(versions.map(() => version));
  }
});

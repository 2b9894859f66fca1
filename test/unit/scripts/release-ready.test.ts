import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readPublisher } from "../../../scripts/publisher.mjs";
import { releaseObstacles } from "../../../scripts/release/ready.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const manifest = { version: "1.2.3", repository: { type: "git" } };
const ready = {
  publisher: { repository: "acme-gpu/compute", publisher: "Acme", npmScope: null },
  repository: "acme-gpu/compute",
  tag: "v1.2.3",
  manifests: { api: manifest, provider: manifest, service: manifest },
  changelog: "# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-11-22\n\n- Something new.\n",
};

test("a release is published if publisher, tag, versions and changelog agree", () => {
  expect(releaseObstacles(ready)).toEqual([]);
});

test.each([
  [
    "no repository",
    { publisher: { ...ready.publisher, repository: null } },
    "publisher.json names no repository or no publisher",
  ],
  [
    "no publisher",
    { publisher: { ...ready.publisher, publisher: null } },
    "publisher.json names no repository or no publisher",
  ],
  [
    "a fork",
    { repository: "other/compute" },
    "names the repository acme-gpu/compute, but the release runs in other/compute",
  ],
  ["a tag of another version", { tag: "v1.2.4" }, "the release is v1.2.4, but api/package.json has version 1.2.3"],
  [
    "packages of different versions",
    { tag: undefined, manifests: { api: manifest, service: { ...manifest, version: "1.2.4" } } },
    "but service/package.json has version 1.2.4",
  ],
  [
    "a package without the addresses",
    { manifests: { api: { version: "1.2.3" } } },
    "api/package.json has no repository: run npm run generate",
  ],
  [
    "no entry in the changelog",
    { changelog: "## Unreleased\n## 11213 - 2026-11-22\n" },
    'CHANGELOG.md has no heading "## 1.2.3 - <date>"',
  ],
] as const)("%s is rejected", (_what, difference, message) => {
  expect(releaseObstacles({ ...ready, ...difference }).join("\n")).toContain(message);
});

if (readPublisher(root).repository === null) {
  test("the command rejects the repository while publisher.json names no publisher", () => {
    const command = join(root, "scripts", "release", "ready.mjs");
    const { status, stderr } = spawnSync(process.execPath, [command], { encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toContain("nothing is published:\n- publisher.json names no repository or no publisher");
  });
}

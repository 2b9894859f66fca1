import { cp, mkdir, symlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, inject, it, vi } from "vitest";
import { run } from "../../scripts/child.mjs";
import { followPage } from "../support/page-runner";
import { environmentWithPackages } from "./support/guide-room";
import { repository } from "./support/sdk";
import { findYaml } from "./support/yaml";

// Two examples install Python packages, which takes minutes on a busy machine.
vi.setConfig({ testTimeout: 600_000 });

const yaml = await findYaml();
const hasPython = await run("python3", ["-m", "venv", "--help"]).then(
  ({ code }) => code === 0,
  () => false,
);
if (!hasPython)
  console.warn(
    "The READMEs of examples/python-worker and examples/pytest are not followed: there is no Python with venv.",
  );

/** The examples whose README is followed in a copy of their folder; the others with FULL=1. */
const examples = [
  { page: "examples/minimal/README.md", onlyFull: true },
  ...(hasPython ? [{ page: "examples/python-worker/README.md", onlyFull: true }] : []),
  { page: "examples/streaming/README.md", onlyFull: false },
  { page: "examples/private-registry/README.md", onlyFull: true },
  { page: "examples/two-accounts/README.md", onlyFull: true },
  ...(yaml.missing === undefined ? [{ page: "examples/yaml/README.md", onlyFull: true }] : []),
  { page: "examples/component/README.md", onlyFull: false },
  { page: "examples/vitest/README.md", onlyFull: false },
  ...(hasPython ? [{ page: "examples/pytest/README.md", onlyFull: true }] : []),
];
const isFull = Boolean(process.env["FULL"]);

describe("a reader who follows the README of an example", () => {
  it.each(examples.filter(({ onlyFull }) => isFull || !onlyFull))("$page", async ({ page }) => {
    const environment = await environmentWithPackages();
    // Links as in a clone, because an example may link to its provider.
    const folder = join(environment.folder, dirname(page));
    await mkdir(dirname(folder));
    await cp(join(repository, dirname(page)), folder, {
      recursive: true,
      filter: (path) => !path.endsWith("node_modules"),
    });
    await symlink(
      join(inject("packed"), "node_modules", "pulumi-serverless-compute"),
      join(environment.folder, "provider"),
    );
    const env = { ...environment.env, PATH: [yaml.path, environment.env["PATH"]].join(delimiter) };
    const runs = await followPage(page, { folder, env }, { fullLifecycle: true });
    expect(runs.length).toBeGreaterThan(0);
  });
});

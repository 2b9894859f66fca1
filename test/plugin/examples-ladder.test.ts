import { delimiter } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { followPage } from "../support/page-runner";
import { copyExample, environmentWithPackages, hasPython } from "./support/guide-room";
import { findYaml } from "./support/yaml";

// Two examples install Python packages, which takes minutes on a busy machine.
vi.setConfig({ testTimeout: 600_000 });

const yaml = await findYaml();
const isPythonPresent = await hasPython();
if (!isPythonPresent)
  console.warn(
    "The READMEs of examples/python-worker and examples/pytest are not followed: there is no Python with venv.",
  );

/** The examples whose README is followed in a copy of their folder; the others with FULL=1. */
const examples = [
  { page: "examples/minimal/README.md", onlyFull: true },
  ...(isPythonPresent ? [{ page: "examples/python-worker/README.md", onlyFull: true }] : []),
  { page: "examples/streaming/README.md", onlyFull: false },
  { page: "examples/private-registry/README.md", onlyFull: true },
  { page: "examples/two-accounts/README.md", onlyFull: true },
  ...(yaml.missing === undefined ? [{ page: "examples/yaml/README.md", onlyFull: true }] : []),
  { page: "examples/component/README.md", onlyFull: false },
  { page: "examples/vitest/README.md", onlyFull: false },
  ...(isPythonPresent ? [{ page: "examples/pytest/README.md", onlyFull: true }] : []),
];
const isFull = Boolean(process.env["FULL"]);

describe("a reader who follows the README of an example", () => {
  it.each(examples.filter(({ onlyFull }) => isFull || !onlyFull))("$page", async ({ page }) => {
    const environment = await environmentWithPackages();
    const folder = await copyExample(page, environment);
    const env = { ...environment.env, PATH: [yaml.path, environment.env["PATH"]].join(delimiter) };
    const runs = await followPage(page, { folder, env }, { fullLifecycle: true });
    expect(runs.length).toBeGreaterThan(0);
  });
});

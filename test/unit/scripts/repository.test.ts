import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../../../scripts/entry.mjs";
import { bundledPackages } from "../../../scripts/release/bundle-plugin.mjs";
import { workflowFaults } from "../../support/workflow-check";

interface LockedPackage {
  optionalDependencies?: Record<string, string>;
}

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

const committed = readFileSync(join(root, "provider", "THIRD-PARTY-NOTICES.txt"), "utf8");

test("the notices contain the version and the complete licence of each package in the plugin's bundles", async () => {
  const packages = await bundledPackages();
  expect(packages).toEqual(
    expect.arrayContaining([expect.stringMatching(/node_modules\/undici$/), "node_modules/zod"]),
  );
  const require = createRequire(join(root, "package.json"));
  for (const folder of packages) {
    const { name, version } = require(`./${folder}/package.json`);
    const [, own = ""] = committed.split(`\n${name} ${version} (`);
    expect(own.split("-".repeat(80))[0], name).toMatch(
      /Permission is hereby granted[\s\S]+WITHOUT WARRANTY OF ANY KIND/,
    );
  }
});

const folder = join(root, ".github", "workflows");
const workflows = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
const uses = workflows.flatMap(({ text }) => [...text.matchAll(/\buses: (.+)$/gm)].map(([, line = ""]) => line));

test("every action is pinned to a commit with its version in a comment, equally everywhere", () => {
  expect(uses.length).toBeGreaterThan(10);
  expect(uses.filter((line) => !/^[\w-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  const distinct = [...new Set(uses)];
  const actions = distinct.map((line) => line.split("@")[0]);
  expect(distinct.filter((_, index) => actions.indexOf(actions[index]) !== index)).toEqual([]);
});

describe.each(workflows)("$name", ({ text }) => {
  const { permissions, jobs }: { permissions: object; jobs: Record<string, { steps: { run?: string }[] }> } =
    parse(text);

  test("is a valid workflow with read permissions by default and a timeout for every job", () => {
    expect(workflowFaults(text)).toEqual([]);
    expect(permissions).toEqual({ contents: "read" });
    for (const [name, job] of Object.entries(jobs)) expect(job, name).toHaveProperty("timeout-minutes");
  });

  test("runs existing scripts and commands", () => {
    const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run = "" }) => run));
    const files = commands.flatMap((line) =>
      [...line.matchAll(/\b(?:node|bash) ([\w./-]+\/[\w.-]+)/g)].map(([, file = ""]) => file),
    );
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const names = commands.flatMap((line) => [...line.matchAll(/npm run ([\w:]+)/g)].map(([, name = ""]) => name));
    expect(names.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
    // Input from outside the repository, for example a branch name, is never part of a shell command.
    expect(commands.filter((line) => /\$\{\{\s*(github\.(event|head_ref|ref_name)|inputs)/.test(line))).toEqual([]);
  });
});

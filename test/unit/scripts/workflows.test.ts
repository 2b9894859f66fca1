import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { workflowFaults } from "../../support/workflow-check";

const root = fileURLToPath(new URL("../../..", import.meta.url));
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

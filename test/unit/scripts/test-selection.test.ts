import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { CliMissing } from "../../../scripts/cli/cli.mjs";
import { engineTests, withoutEngine } from "../../../scripts/test-selection.mjs";
import { fullOnly } from "../../full-only.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));

describe("the tests that run a Pulumi CLI", () => {
  test.each([
    ["all", []],
    ["all", ["--reporter=json"]],
    ["asked", ["test/plugin/import.test.ts"]],
    ["asked", ["./test/engine", "test/unit"]],
    ["asked", ["--project", "plugin"]],
    ["asked", ["test/packages"]],
    ["asked", ["--project", "kubernetes"]],
    ["asked", ["--project=unit", "--project=engine"]],
    ["none", ["test/unit/scripts"]],
    ["none", ["--project", "unit", "test/engine"]],
  ])("are %s with %j", (selected, args) => {
    expect(engineTests(args)).toBe(selected);
  });
});

describe("without a CLI", () => {
  test("the others run, and the summary lists the omitted tests with the reason", () => {
    const withoutEngineTests = withoutEngine(
      ["--reporter=json"],
      new CliMissing(["build with Go: there is no `go` on PATH"], true),
    );
    expect(withoutEngineTests.args[0]).toBe("--reporter=json");
    expect(withoutEngineTests.text).toMatch(
      /^NOT RUN: the tests of test\/engine, test\/plugin, test\/executable, test\/packages, test\/kubernetes, which require a Pulumi CLI\.\n/,
    );
    expect(withoutEngineTests.text).toContain("there is no `go` on PATH");
    expect(withoutEngineTests.code).toBe(0);
  });

  test("vitest receives all test files except those that run a CLI", () => {
    const { args } = withoutEngine([], new CliMissing([], true));
    const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
    const { stdout } = spawnSync(process.execPath, [vitest, "list", "--filesOnly", ...args], {
      cwd: root,
      encoding: "utf8",
      // Full runs list more files.
      env: { ...process.env, FULL: "" },
    });
    // A suite that runs with both dialects is listed once per dialect.
    const listed = [...new Set([...stdout.matchAll(/test\/\S+\.test\.ts/g)].map(([path]) => path))];
    const all = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
      .map((path) => `test/${path.replaceAll("\\", "/")}`)
      .filter((path) => path.endsWith(".test.ts"));
    expect(all).toEqual(expect.arrayContaining(fullOnly));
    const remaining = all.filter(
      (path) => !fullOnly.includes(path) && !/^test\/(engine|plugin|executable|packages|kubernetes)\//.test(path),
    );
    expect(remaining.length).toBeLessThan(all.length);
    expect(listed.sort()).toEqual(remaining.sort());
  });

  test("a failed build of the CLI is a failure even if all tests pass", () => {
    expect(withoutEngine([], new CliMissing(["build with Go: `go build` of pulumi failed"], false)).code).toBe(1);
  });
});

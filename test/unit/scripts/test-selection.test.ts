import { describe, expect, test } from "vitest";
import { CliMissing } from "../../../scripts/cli.mjs";
import { engineTests, withoutEngine } from "../../../scripts/test-selection.mjs";

describe("the tests that run a Pulumi CLI", () => {
  test.each([
    ["all", []],
    ["all", ["--reporter=json"]],
    ["asked", ["test/plugin/import.test.ts"]],
    ["asked", ["./test/engine", "test/unit"]],
    ["asked", ["--project", "plugin"]],
    ["asked", ["test/packages"]],
    ["asked", ["--project=unit", "--project=engine"]],
    ["none", ["test/unit/scripts"]],
    ["none", ["--project", "unit", "test/engine"]],
  ])("are %s with %j", (selected, args) => {
    expect(engineTests(args)).toBe(selected);
  });
});

describe("without a CLI", () => {
  test("the others run, and the end says what did not and why", () => {
    const rest = withoutEngine(["--reporter=json"], new CliMissing(["build with Go: there is no `go` on PATH"], true));
    expect(rest.args).toEqual(["--reporter=json", "--project=!engine", "--project=!plugin", "--project=!packages"]);
    expect(rest.text).toMatch(
      /^NOT RUN: the tests of test\/engine, test\/plugin, test\/packages, which need a Pulumi CLI\.\n/,
    );
    expect(rest.text).toContain("there is no `go` on PATH");
    expect(rest.code).toBe(0);
  });

  test("that a build of the CLI failed is a failure, whatever else passes", () => {
    expect(withoutEngine([], new CliMissing(["build with Go: `go build` of pulumi failed"], false)).code).toBe(1);
  });
});

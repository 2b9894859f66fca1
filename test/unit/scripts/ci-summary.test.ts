import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "./fake-cli";

/** Runs the summary as CI does; hands back its lines and exit code. */
function summary(report: object | undefined, ...steps: string[]) {
  const path = join(temporaryFolder(), "tests.json");
  if (report !== undefined) writeFileSync(path, JSON.stringify(report));
  const script = join(__dirname, "../../../scripts/ci-summary.mjs");
  const { stdout, status } = spawnSync(process.execPath, [script, path, ...steps], { encoding: "utf8" });
  return { lines: stdout.trim().split("\n"), status };
}

const report = { numPassedTests: 40, numFailedTests: 0, numPendingTests: 1 };

test("the last line counts tests and steps, and all good means exit code 0", () => {
  const { lines, status } = summary(report, "tests=0", "check=0", "quickstart=0");
  expect(lines).toEqual([
    "tests: 40 passed, 0 failed, 1 skipped",
    "check: passed",
    "quickstart: passed",
    "42 passed, 0 failed",
  ]);
  expect(status).toBe(0);
});

test("a failed test fails the run", () => {
  const { lines, status } = summary({ ...report, numFailedTests: 2 }, "tests=1", "check=0", "quickstart=0");
  expect(lines.at(-1)).toBe("42 passed, 2 failed");
  expect(status).toBe(1);
});

test("a failed step fails the run", () => {
  const { lines, status } = summary(report, "tests=0", "check=0", "quickstart=1");
  expect(lines.slice(-2)).toEqual(["quickstart: failed", "41 passed, 1 failed"]);
  expect(status).toBe(1);
});

test("a test run that broke off, or never wrote its report, is a failure", () => {
  expect(summary(report, "tests=1", "check=0", "quickstart=0").lines.at(-1)).toBe("42 passed, 1 failed");
  expect(summary(undefined, "tests=1", "check=0", "quickstart=0")).toMatchObject({ status: 1 });
});

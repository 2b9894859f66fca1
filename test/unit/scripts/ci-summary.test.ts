import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { fullOnly } from "../../full-only.mjs";
import { scratchFolder } from "../../support/folders";
import { writeExecutable } from "./fake-cli";

const repository = fileURLToPath(new URL("../../..", import.meta.url));
type Status = "passed" | "failed" | "skipped" | "todo";

/** Test files of a run with the results of their tests; everything else passed. */
interface Run {
  /** Tests by file; "broken" is a file that failed before its tests. */
  files: Record<string, Record<string, Status> | "broken">;
  /** Test files of the repository that are missing from the report. */
  unreported?: readonly string[];
  allowed?: unknown;
  steps?: Record<string, number>;
  /** Text to write instead of a report. */
  report?: string | false;
  /** True for a run with FULL=1. */
  full?: boolean;
  /** Commands available on the machine besides Node. */
  tools?: Record<string, string[]>;
}

/** Runs the summary as CI does, in a repository of these files, and returns its lines and exit code. */
function summary({ files, unreported = [], allowed = [], steps = {}, report, full = false, tools = {} }: Run) {
  const root = scratchFolder();
  const write = (path: string, text: string): void => {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const path of ["test/support/clock.ts", ...Object.keys(files), ...unreported]) write(path, "");
  write(".ci/allowed-skips.json", JSON.stringify(allowed));
  const testResults = Object.entries(files).map(([path, tests]) => ({
    name: join(root, path),
    message: tests === "broken" ? "Error: the SDK for nodejs cannot be generated\nand more" : "",
    status: tests === "broken" || Object.values(tests).includes("failed") ? "failed" : "passed",
    assertionResults:
      tests === "broken" ? [] : Object.entries(tests).map(([fullName, status]) => ({ fullName, status })),
  }));
  if (report !== false) write("report.json", report ?? JSON.stringify({ testResults }));
  const bin = join(root, "bin");
  mkdirSync(bin);
  for (const [name, lines] of Object.entries(tools)) writeExecutable(join(bin, name), ...lines);
  symlinkSync("/bin/sh", join(bin, "sh"));
  const script = join(repository, "scripts", "ci-summary.mjs");
  const codes = Object.entries({ tests: 0, check: 0, quickstart: 0, ...steps }).map(
    ([name, code]) => `${name}=${code}`,
  );
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, join(root, "report.json"), ...codes], {
    encoding: "utf8",
    cwd: root,
    env: { PATH: bin, ...(full ? { FULL: "1" } : {}) },
  });
  expect(stderr).toBe("");
  return { lines: stdout.trim().split("\n"), status };
}

const unit = "test/unit/a.test.ts";
const passingRun = { [unit]: { "does one thing": "passed", "does another": "passed" } } as const;

test("the last line counts tests and steps, and the exit code is 0 without failures", () => {
  expect(summary({ files: passingRun })).toEqual({
    lines: ["tests: 2 passed, 0 failed, 0 skipped", "check: passed", "quickstart: passed", "4 passed, 0 failed"],
    status: 0,
  });
});

test("a failed test or step fails the run", () => {
  const { lines, status } = summary({
    files: { ...passingRun, "test/b.test.ts": { c: "failed" } },
    steps: { tests: 1, quickstart: 1 },
  });
  expect(lines).toEqual([
    "tests: 2 passed, 1 failed, 0 skipped",
    "check: passed",
    "quickstart: failed",
    "3 passed, 2 failed",
  ]);
  expect(status).toBe(1);
  expect(summary({ files: passingRun, steps: { quickstart: 1 } }).status).toBe(1);
});

test("files of full runs may be missing", () => {
  const { lines, status } = summary({ files: passingRun, unreported: fullOnly });
  expect(lines.at(-1)).toBe("4 passed, 0 failed");
  expect(status).toBe(0);
});

describe("anything that does not run fails the run", () => {
  test.each([
    ["an error after its last test", { steps: { tests: 1 } }, "failed without a failed test", "4 passed, 1 failed"],
    ["no report", { report: false }, "report cannot be read: ENOENT", "2 passed, 2 failed"],
    [
      "a truncated report",
      { report: '{"testResults":' },
      "report cannot be read: Unexpected end",
      "2 passed, 2 failed",
    ],
    ["no tests", { report: '{"testResults":[]}' }, "the report contains no tests", "2 passed, 2 failed"],
    ["an unknown file", { unreported: ["test/z.test.ts"] }, "test/z.test.ts: did not run", "4 passed, 1 failed"],
    [
      "a file without tests",
      { files: { ...passingRun, "test/z.test.ts": {} } },
      "test/z.test.ts: did not",
      "4 passed, 1 failed",
    ],
    [
      "a file that failed before its tests",
      { files: { ...passingRun, "test/z.test.ts": "broken" }, steps: { tests: 1 } },
      "test/z.test.ts: Error: the SDK for nodejs cannot be generated",
      "4 passed, 1 failed",
    ],
    [
      "a skip",
      { files: { ...passingRun, "test/z.test.ts": { x: "skipped" } } },
      "test/z.test.ts: skipped",
      "4 passed, 1 failed",
    ],
    [
      "a todo",
      { files: { ...passingRun, "test/z.test.ts": { x: "todo" } } },
      "test/z.test.ts: skipped",
      "4 passed, 1 failed",
    ],
  ] as const)("%s", (_what, run, expected, last) => {
    const { lines, status } = summary({ files: passingRun, ...run });
    expect(lines.join("\n")).toContain(expected);
    expect(lines.at(-1)).toBe(last);
    expect(status).toBe(1);
  });
});

describe("a listed skip", () => {
  const file = "test/plugin/go.test.ts";
  const entry = { file: "test/plugin/go\\.test\\.ts", test: "in Go$", reason: "Go compiles it", when: "no Go" };
  const skipped = { ...passingRun, [file]: { "programs in Go": "skipped" } } as const;
  const go = (version: string) => ({ go: [`echo go version ${version} x`] });

  test("is reported and passes if its requirement is missing", () => {
    const run = { files: skipped, allowed: [entry] };
    for (const { lines, status } of [summary(run), summary({ ...run, tools: go("go1.22.4") })]) {
      expect(lines).toContain(`tests: skipped as allowed (no Go: Go compiles it): ${file}: programs in Go`);
      expect(lines.at(-1)).toBe("4 passed, 0 failed");
      expect(status).toBe(0);
    }
  });

  test("fails if its requirement is present, because a defect caused it", () => {
    const { lines, status } = summary({ files: skipped, allowed: [entry], tools: go("go1.26.0") });
    expect(lines).toContain(`tests: FAILED: ${file}: skipped, which is not allowed (only with no Go): programs in Go`);
    expect(lines.at(-1)).toBe("4 passed, 1 failed");
    expect(status).toBe(1);
  });

  test("applies only to its test in its file", () => {
    const files: Run["files"] = {
      ...passingRun,
      [file]: { "programs in Go": "skipped", "in Go, twice": "skipped" },
      "test/plugin/go.test.ts.test.ts": { "in Go": "skipped" },
      "test/b.test.ts": { "in Go": "skipped" },
    };
    expect(summary({ files, allowed: [entry] }).lines.at(-1)).toBe("4 passed, 3 failed");
  });

  test("may name a file that only full runs contain", () => {
    const [name = ""] = fullOnly;
    const { lines, status } = summary({
      files: passingRun,
      allowed: [{ ...entry, file: name.replaceAll(".", "\\.") }],
    });
    expect([lines.filter((line) => line.includes("FAILED")), status]).toEqual([[], 0]);
  });

  test("fails if it matches no test", () => {
    const { lines, status } = summary({ files: passingRun, allowed: [entry] });
    expect(lines).toContain("tests: FAILED: .ci/allowed-skips.json: no test is like test/plugin/go\\.test\\.ts in Go$");
    expect(status).toBe(1);
  });

  test("may name a file that could not be loaded", () => {
    const { lines } = summary({ files: { ...passingRun, [file]: "broken" }, allowed: [entry], steps: { tests: 1 } });
    expect(lines.at(-1)).toBe("4 passed, 1 failed");
  });

  test.each([
    [{ ...entry, reason: "" }, "[0].reason"],
    [{ ...entry, when: "often" }, "must be one of no Go, "],
    [{ ...entry, tset: "x" }, '"tset"'],
  ])("requires a reason and a condition that CI can check: %j", (broken, message) => {
    const { lines, status } = summary({ files: passingRun, allowed: [broken] });
    expect(lines.join("\n")).toContain(message);
    expect(lines.at(-1)).toBe("4 passed, 1 failed");
    expect(status).toBe(1);
  });
});

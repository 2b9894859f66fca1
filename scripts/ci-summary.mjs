import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fullOnly } from "../test/full-only.mjs";
import { isConditionMet, readAllowedSkips } from "./allowed-skips.mjs";

// Summarises a CI run in the current repository: `node scripts/ci-summary.mjs <vitest's JSON report> <step>=<exit
// code>…`. Each step counts as one, in addition to the tests. Everything that did not run counts as failed: a test file that is
// missing from the report or has no tests, a skip that .ci/allowed-skips.json does not allow, a run that aborted.

/** @typedef {import("./allowed-skips.mjs").AllowedSkip} AllowedSkip */
/** @typedef {{ fullName: string, status: string }} Result */
/** @typedef {{ name: string, status: string, message: string, assertionResults: Result[] }} FileResult */

const [report = "", ...stepArgs] = process.argv.slice(2);
const codes = new Map(stepArgs.map((step) => /** @type {[string, string]} */ (step.split("="))));

/** Test files that this run does not contain. */
const laterSteps = process.env["FULL"] ? [] : fullOnly;
const files = readReport(report);
const results = files.flatMap(({ assertionResults }) => assertionResults);
/** @param {string} status */
const count = (status) => results.filter((result) => result.status === status).length;
let passed = count("passed");
let failed = count("failed");
console.log(`tests: ${passed} passed, ${failed} failed, ${results.length - passed - failed} skipped`);

const problems = [...files.flatMap(brokenFile), ...notRun(files), ...badSkips(files)];
if (results.length === 0) problems.push("the report contains no tests");
if (codes.get("tests") !== "0" && failed + problems.length === 0)
  problems.push("the run failed without a failed test; see its output above");
for (const problem of problems) console.log(`tests: FAILED: ${problem}`);
failed += problems.length;

for (const [name, code] of codes) {
  if (name === "tests") continue;
  console.log(`${name}: ${code === "0" ? "passed" : "failed"}`);
  if (code === "0") passed += 1;
  else failed += 1;
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/**
 * Test files of a report, by path in the repository; empty if the report cannot be read.
 * @param {string} path
 * @returns {FileResult[]}
 */
function readReport(path) {
  try {
    /** @type {{ testResults: FileResult[] }} */
    const { testResults } = JSON.parse(readFileSync(path, "utf8"));
    return testResults.map((file) => ({ ...file, name: relative(process.cwd(), file.name).split(sep).join("/") }));
  } catch (error) {
    console.log(`tests: the report cannot be read: ${error instanceof Error ? error.message : error}`);
    return [];
  }
}

/**
 * A file that failed outside its tests: it could not be loaded, or its setup failed.
 * @param {FileResult} file
 */
function brokenFile({ name, status, message, assertionResults }) {
  const isBroken = status === "failed" && !assertionResults.some((result) => result.status === "failed");
  return isBroken ? [`${name}: ${message.split("\n")[0] || "it failed before its tests"}`] : [];
}

/**
 * Test files of the repository that are missing from the report or have no tests in it. Files of full runs may be missing.
 * @param {FileResult[]} reports
 */
function notRun(reports) {
  const executed = new Set(
    reports.filter((file) => file.status === "failed" || file.assertionResults.length > 0).map(({ name }) => name),
  );
  const all = readdirSync("test", { recursive: true, encoding: "utf8" }).map((path) =>
    join("test", path).split(sep).join("/"),
  );
  return all
    .filter((path) => path.endsWith(".test.ts") && !executed.has(path) && !laterSteps.includes(path))
    .map((path) => `${path}: did not run`);
}

/**
 * Skips that are not allowed, and list entries that match nothing. Skips in a file that failed outside its tests are part of that
 * failure.
 * @param {FileResult[]} reports
 */
function badSkips(reports) {
  /** @type {AllowedSkip[]} */
  let allowed;
  try {
    allowed = readAllowedSkips(join(".ci", "allowed-skips.json"));
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  /** @param {AllowedSkip} entry @param {string} file @param {string} test */
  const matchesTest = (entry, file, test) =>
    new RegExp(`^(?:${entry.file})$`).test(file) && (entry.test === undefined || new RegExp(entry.test).test(test));
  const tests = reports.flatMap((file) => file.assertionResults.map((result) => ({ ...result, file })));
  const skips = tests.filter(
    ({ status, file }) => status !== "passed" && status !== "failed" && brokenFile(file).length === 0,
  );
  const refused = skips.flatMap(({ file: { name }, fullName }) => {
    const entries = allowed.filter((entry) => matchesTest(entry, name, fullName));
    const conditionMet = entries.find((entry) => isConditionMet(entry.when));
    if (conditionMet)
      console.log(`tests: skipped as allowed (${conditionMet.when}: ${conditionMet.reason}): ${name}: ${fullName}`);
    const reason = entries.map(({ when }) => `only with ${when}`).join(", ") || "not in .ci/allowed-skips.json";
    return conditionMet ? [] : [`${name}: skipped, which is not allowed (${reason}): ${fullName}`];
  });
  // The tests of a file that failed outside its tests, or that only full runs contain, are unknown.
  const unknown = [...reports.filter((file) => brokenFile(file).length > 0).map(({ name }) => name), ...laterSteps];
  const unused = allowed.filter(
    (entry) =>
      !tests.some(({ file, fullName }) => matchesTest(entry, file.name, fullName)) &&
      !unknown.some((name) => matchesTest({ ...entry, test: "" }, name, "")),
  );
  const stale = unused.map(({ file, test = "" }) => `.ci/allowed-skips.json: no test is like ${file} ${test}`.trim());
  return tests.length === 0 ? refused : [...refused, ...stale];
}

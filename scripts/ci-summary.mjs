import { readFileSync } from "node:fs";

// Sums up a CI run: `node scripts/ci-summary.mjs <vitest's JSON report> <step>=<exit code>…`. Each step beside the
// tests counts as one; a test run that failed without a failed test (it did not start, or broke off) counts as one too.
const [report = "", ...steps] = process.argv.slice(2);
const codes = Object.fromEntries(steps.map((step) => step.split("=")));

const totals = readTotals(report);
let { passed, failed } = totals;
console.log(`tests: ${passed} passed, ${failed} failed, ${totals.skipped} skipped`);
if (codes["tests"] !== "0" && failed === 0) {
  console.log("tests: the run failed without a failed test; its output above says why");
  failed += 1;
}
for (const [name, code] of Object.entries(codes)) {
  if (name === "tests") continue;
  console.log(`${name}: ${code === "0" ? "passed" : "failed"}`);
  if (code === "0") passed += 1;
  else failed += 1;
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** @param {string} path */
function readTotals(path) {
  try {
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(path, "utf8"));
    return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests };
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  }
}

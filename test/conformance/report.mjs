import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { contractSection } from "./contract-table.mjs";
import { conformancePage } from "./page.mjs";

/**
 * Runs the conformance tests and writes docs/conformance.md: each row of the interface with its test file, interpretation
 * and result. With --check it only compares, and fails if the page is outdated.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const file = join(root, "docs/conformance.md");
const service = process.env.CONFORMANCE_BASE_URL ? "a running service" : "the local service";
const checking = process.argv.includes("--check");

/** Runs all conformance tests, and returns vitest's report and the records of test/support/contract-watch.ts. */
function run() {
  const folder = mkdtempSync(join(tmpdir(), "conformance-report-"));
  const output = join(folder, "report.json");
  try {
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const flags = ["--project", "conformance", "--reporter=default", "--reporter=json", `--outputFile.json=${output}`];
    const traffic = join(folder, "traffic");
    const env = { ...process.env, CONTRACT_RECORD: traffic };
    spawnSync(process.execPath, [vitest, "run", ...flags], { cwd: root, stdio: "inherit", env });
    if (!existsSync(output))
      throw new Error("the conformance tests wrote no report: the run failed before the first test");
    const read = (/** @type {string} */ path) => JSON.parse(readFileSync(path, "utf8"));
    const records = readdirSync(traffic).map((name) => read(join(traffic, name)));
    return { report: read(output), records };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { report, records } = run();
const { routes } = JSON.parse(readFileSync(join(root, "test/contract/rest-v2.json"), "utf8"));
const page = conformancePage(report, service, contractSection(routes, records));
const stale = checking && readFileSync(file, "utf8") !== page;
if (stale) console.error("docs/conformance.md is outdated; run node test/conformance/report.mjs");
if (!checking) writeFileSync(file, page);
process.exitCode = report.success && report.numTotalTests > 0 && !stale ? 0 : 1;

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { conformancePage } from "./page.mjs";

/**
 * Runs the conformance tests and writes docs/conformance.md: each row of the interface, the file that holds it, the reading
 * that it rests on, the result. With --check it writes nothing and fails when the page is not what the run says.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const file = join(root, "docs/conformance.md");
const asked = process.env.CONFORMANCE_BASE_URL ? "a service that was up already" : "the local service";
const checking = process.argv.includes("--check");

/** Runs them all and returns vitest's own report. */
function run() {
  const folder = mkdtempSync(join(tmpdir(), "conformance-report-"));
  const output = join(folder, "report.json");
  try {
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const flags = ["--project", "conformance", "--reporter=default", "--reporter=json", `--outputFile.json=${output}`];
    spawnSync(process.execPath, [vitest, "run", ...flags], { cwd: root, stdio: "inherit" });
    if (!existsSync(output))
      throw new Error("the conformance tests wrote no report: the run failed before its first test");
    return JSON.parse(readFileSync(output, "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const report = run();
const page = conformancePage(report, asked);
const stale = checking && readFileSync(file, "utf8") !== page;
if (stale) console.error("docs/conformance.md is not what this run says: run node test/conformance/report.mjs");
if (!checking) writeFileSync(file, page);
process.exitCode = report.success && report.numTotalTests > 0 && !stale ? 0 : 1;

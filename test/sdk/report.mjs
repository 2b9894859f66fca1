import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { clientsPage } from "./page.mjs";

/**
 * Runs the tests of the published clients and writes docs/clients.md: client, version, operation, result. With --check it
 * only compares, and fails if the page is outdated.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const file = join(root, "docs/clients.md");
const checking = process.argv.includes("--check");

/** Runs them all and returns vitest's own report. */
function run() {
  const folder = mkdtempSync(join(tmpdir(), "clients-report-"));
  const output = join(folder, "report.json");
  try {
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const flags = ["--project", "sdk", "--reporter=default", "--reporter=json", `--outputFile.json=${output}`];
    spawnSync(process.execPath, [vitest, "run", ...flags], {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, FULL: "1" },
    });
    if (!existsSync(output)) throw new Error("the tests wrote no report: the run failed before the first test");
    return JSON.parse(readFileSync(output, "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const report = run();
const page = clientsPage(report);
const isStale = checking && readFileSync(file, "utf8") !== page;
if (isStale) console.error("docs/clients.md is not what this run says: run node test/sdk/report.mjs");
if (!checking) writeFileSync(file, page);
process.exitCode = report.success && report.numTotalTests > 0 && !isStale ? 0 : 1;

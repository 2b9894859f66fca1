import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Runs the conformance tests and writes docs/conformance.md: each row of the interface, the file that holds it, the result. */

const root = fileURLToPath(new URL("../..", import.meta.url));
const words = {
  passed: "holds",
  failed: "**does not hold**",
  skipped: "not asked",
  pending: "not asked",
  todo: "not asked",
};
const asked = process.env.CONFORMANCE_BASE_URL ? "a service that was up already" : "the local service";
const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** Runs them and answers vitest's own report. */
function run() {
  const folder = mkdtempSync(join(tmpdir(), "conformance-report-"));
  const file = join(folder, "report.json");
  try {
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const flags = [
      "run",
      "--project",
      "conformance",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${file}`,
    ];
    spawnSync(process.execPath, [vitest, ...flags, ...process.argv.slice(2)], { cwd: root, stdio: "inherit" });
    return JSON.parse(readFileSync(file, "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The page: one table for each part of the interface, in the order of the files' names. */
function page(report) {
  const sections = new Map();
  for (const { name, assertionResults } of [...report.testResults].sort((a, b) => a.name.localeCompare(b.name))) {
    for (const { ancestorTitles, title, status } of assertionResults) {
      const section = ancestorTitles.join(" · ") || "Settings of the local service";
      const row = `| ${cell(title)} | ${basename(name, ".test.ts")} | ${words[status] ?? status} |`;
      sections.set(section, [...(sections.get(section) ?? []), row]);
    }
  }
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const passed = results.filter(({ status }) => status === "passed").length;
  const tables = [...sections]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([section, rows]) => `## ${section}\n\n| row | test file | result |\n|---|---|---|\n${rows.join("\n")}\n`);
  return `# Conformance\n\nWritten by \`node test/conformance/report.mjs\` from a run of the conformance tests against ${asked}:
${passed} of ${results.length} rows hold.\n\n${tables.join("\n")}`;
}

const report = run();
writeFileSync(join(root, "docs/conformance.md"), page(report));
process.exitCode = report.success ? 0 : 1;

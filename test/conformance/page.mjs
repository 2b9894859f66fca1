import { basename } from "node:path";
import { tagPrefix } from "./readings.mjs";

/**
 * One test of vitest's JSON report.
 * @typedef {{ ancestorTitles: string[], title: string, status: string, tags?: string[] }} Result
 * @typedef {{ testResults: { name: string, assertionResults: Result[] }[] }} Report
 */

const words = new Map([
  ["passed", "holds"],
  ["failed", "**does not hold**"],
  ["skipped", "skipped"],
  ["pending", "skipped"],
  ["todo", "skipped"],
]);

/** @param {string} text */
const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** Links to the interpretations on which a row depends.
 * @param {Result} result */
const readingsOf = ({ tags = [] }) =>
  tags
    .filter((tag) => tag.startsWith(tagPrefix))
    .map((tag) => `[${tag.slice(tagPrefix.length)}](service-api.md#readings)`)
    .join(", ");

/** The page: one table for each part of the interface, in the order of the file names. `service` names the tested service,
 * `contract` is the section about the contract.
 * @param {Report} report
 * @param {string} service
 * @param {string} contract */
export function conformancePage(report, service, contract) {
  /** @type {Map<string, string[]>} */
  const sections = new Map();
  for (const { name, assertionResults } of [...report.testResults].sort((a, b) => a.name.localeCompare(b.name))) {
    for (const result of assertionResults) {
      const section = result.ancestorTitles.join(" · ") || "Settings of the local service";
      const cells = [cell(result.title), basename(name, ".test.ts"), readingsOf(result)];
      const row = `| ${cells.join(" | ")} | ${words.get(result.status) ?? result.status} |`;
      sections.set(section, [...(sections.get(section) ?? []), row]);
    }
  }
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const passed = results.filter(({ status }) => status === "passed").length;
  const tables = [...sections]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(
      ([section, rows]) =>
        `## ${section}\n\n| row | test file | reading | result |\n|---|---|---|---|\n${rows.join("\n")}\n`,
    );
  return `# Conformance\n\nThis page is for maintainers and reviewers. It lists each tested rule of the service's interface, with the result. It is written by
\`node test/conformance/report.mjs\` from a run of the conformance tests against ${service}:
${passed} of ${results.length} rows hold. If the interface is ambiguous, a row names the
[reading](service-api.md#readings) on which it depends.\n\n${contract}\n${tables.join("\n")}`;
}

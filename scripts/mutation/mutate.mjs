import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { root, runScript } from "../entry.mjs";
import { describeMutant } from "./sample.mjs";

const usage = "usage: npm run mutate -- <folder> [--sample <number>] [--seed <text>] [--projects <names>]";

/** Fast vitest projects that test the rules of a folder; the first matching prefix applies. */
const defaultProjects = [
  { prefix: "service/", names: "unit" },
  { prefix: "", names: "unit,faults,faults-v2,faults-stripped" },
];

/** Minimum score for success, percent. Stryker's survivors include mutants that only other projects detect. */
const minimum = 65;

/** Runs Stryker on a seeded sample of a folder's mutants and prints the score and the survivors. */
await runScript(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: "string", default: "300" },
      seed: { type: "string", default: "1" },
      projects: { type: "string" },
    },
  });
  const [folder = ""] = positionals;
  const size = Number(values.sample);
  if (positionals.length !== 1 || !Number.isInteger(size) || size < 1) throw new Error(usage);
  if (!existsSync(join(root, folder)))
    throw new Error(`${folder}: does not exist; pass a folder such as service/queue`);
  process.chdir(root);
  process.env["MUTATION_PROJECTS"] =
    values.projects ?? defaultProjects.find(({ prefix }) => folder.startsWith(prefix))?.names;
  process.env["MUTATION_FOLDER"] = folder;
  const temporary = mkdtempSync(join(tmpdir(), "mutants-"));
  try {
    const options = strykerOptions(folder, temporary, { size, seed: values.seed });
    console.log(`${folder}: up to ${size} mutants, seed ${values.seed}; the tests run once without mutants first`);
    return report(await new Stryker(options).runMutationTest());
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
});

/**
 * @param {string} folder
 * @param {string} tempDirName
 * @param {{ size: number, seed: string }} sample Options of the plugin of sample.mjs.
 */
function strykerOptions(folder, tempDirName, sample) {
  return {
    mutate: [`${folder}/**/*.ts`],
    // The tools of full runs contain links to folders, which Stryker cannot copy.
    ignorePatterns: ["**/dist", ".serverless-compute"],
    disableTypeChecks: false,
    testRunner: "vitest",
    vitest: { configFile: "scripts/mutation/vitest.config.mts" },
    plugins: ["@stryker-mutator/vitest-runner", join(root, "scripts/mutation/sample.mjs")],
    checkers: ["sample"],
    reporters: ["sample"],
    sample,
    coverageAnalysis: /** @type {const} */ ("perTest"),
    // A mutant of code that runs when a module is loaded would need all tests.
    ignoreStatic: true,
    concurrency: 1,
    timeoutMS: 60_000,
    dryRunTimeoutMinutes: 60,
    warnings: false,
    allowConsoleColors: false,
    tempDirName,
    cleanTempDir: /** @type {const} */ ("always"),
  };
}

/**
 * Prints the survivors and the score; returns the exit code.
 * @param {import("./sample.mjs").MutantResult[]} results
 */
function report(results) {
  const withStatus = (/** @type {string[]} */ ...statuses) => results.filter(({ status }) => statuses.includes(status));
  const undetected = withStatus("Survived", "NoCoverage");
  const detectedCount = withStatus("Killed", "Timeout").length;
  const score = (100 * detectedCount) / (detectedCount + undetected.length);
  const counts = ["Killed", "Timeout", "Survived", "NoCoverage", "RuntimeError"].map(
    (status) => `${status} ${withStatus(status).length}`,
  );
  console.log(["", ...undetected.map(describeMutant), `score ${score.toFixed(1)} %: ${counts.join(", ")}`].join("\n"));
  return score >= minimum ? 0 : 1;
}

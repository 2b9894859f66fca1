import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { findCli } from "../cli/cli.mjs";
import { isMain, root, runScript } from "../entry.mjs";
import { generateSdk } from "../generate/sdks.mjs";
import { createProgress } from "../progress.mjs";
import { packPackages } from "../release/npm-packages.mjs";
import { completeSdk } from "../release/sdk-packages.mjs";
import { setUpWithoutCli } from "../setup.mjs";
import { checkTools, installPackages } from "./installation.mjs";
import { readProject, runtimes } from "./project.mjs";

const usage = `Usage: npm run add -- <folder> [--language ${Object.keys(runtimes).join("|")}]`;

/**
 * Installs the packages of this clone into a Pulumi project or an empty folder.
 * @param {string} folder
 * @param {string | undefined} language
 * @param {import("../progress.mjs").Progress} progress
 * @returns {Promise<string[]>} Steps that the user must take.
 */
export async function addPackages(folder, language, progress) {
  const project = readProject(folder, language);
  await checkTools(project);
  await setUpWithoutCli({ progress });
  const draft = await mkdtemp(join(tmpdir(), "add-"));
  try {
    const files = await packPackages(draft);
    const sdk = await sdkFor(project.language, draft, progress);
    const schema = JSON.parse(await readFile(join(root, "schema.json"), "utf8"));
    const goModule = schema.language.go.importBasePath;
    const step = progress.start(`Installing the packages into ${folder}`);
    try {
      return await installPackages(project, { folder: draft, files, version: schema.version, sdk, goModule });
    } finally {
      step.done();
    }
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * Generates the SDK of a language, if its programs require one.
 * @param {import("./project.mjs").ProgramLanguage} language
 * @param {string} target
 * @param {import("../progress.mjs").Progress} progress
 */
async function sdkFor(language, target, progress) {
  if (language === "typescript" || language === "yaml" || language === "none") return undefined;
  const cli = await findCli({ progress });
  const generated = await generateSdk(language, { schema: join(root, "schema.json"), target, cli, progress });
  if ("reason" in generated) throw new Error(generated.reason);
  await completeSdk(generated.folder, language);
  return generated.folder;
}

if (isMain(import.meta.url)) {
  await runScript(async () => {
    const { folder, language } = readArguments(process.argv.slice(2));
    // npm runs scripts in the root of the clone.
    const base = process.env["INIT_CWD"] ?? process.cwd();
    const target = resolve(base, folder);
    const started = performance.now();
    const steps = await addPackages(target, language, createProgress());
    console.log(`Installed in ${Math.round((performance.now() - started) / 1000)} s. Next steps:`);
    const start = "npx --no serverless-compute-local start --image <name>=<handler>";
    // A shell splits an unquoted path at its spaces.
    const path = relative(base, target).replaceAll("'", "'\\''") || ".";
    for (const step of [/^[\w@./-]+$/.test(path) ? `cd ${path}` : `cd '${path}'`, ...steps, start])
      console.log(`  ${step}`);
    console.log(`The pages in ${relative(base, join(root, "docs", "start"))} continue with a program.`);
    return 0;
  }, usage);
}

/** @param {string[]} args */
function readArguments(args) {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { language: { type: "string" } },
      allowPositionals: true,
    });
    const [folder] = positionals;
    if (folder !== undefined && positionals.length === 1) return { folder, language: values.language };
  } catch {
    // The usage describes every fault.
  }
  throw new Error(usage);
}

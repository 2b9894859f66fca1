import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { lastLines, run, ToolMissing } from "../child.mjs";
import { engineReplacements, installExecutable } from "../cli/build.mjs";
import { findCli, withCliOnPath } from "../cli/cli.mjs";
import { isMain, root, runScript } from "../entry.mjs";
import { withLock } from "../lock.mjs";
import { createProgress, silentProgress } from "../progress.mjs";

// Generates the SDKs from schema.json; as a script (`npm run sdks [-- <folder> [<language>…]]`), all of them or those of the languages.

/** @typedef {"nodejs" | "python" | "go" | "dotnet" | "java"} SdkLanguage */

/** Languages of the generated SDKs. @type {readonly SdkLanguage[]} */
export const sdkLanguages = ["nodejs", "python", "go", "dotnet", "java"];

/** Version of Pulumi's module for Go programs, and of the generators in it. */
const generatorVersion = "v3.250.0";

/** Last version of the same module with a generator for .NET; the later ones are not published as a Go module. */
const earlierVersion = "v3.130.1-0.20240831132520-d9df47718158";

/**
 * The modules whose generators are built if the CLI's own cannot be used, with the file of sdk-codegen that uses them.
 * @type {Record<"current" | "earlier", { version: string, otherModules: string[] }>}
 */
const generators = {
  current: { version: generatorVersion, otherModules: [] },
  earlier: {
    version: earlierVersion,
    otherModules: [
      `github.com/pulumi/pulumi/sdk/v3@${earlierVersion}`,
      "github.com/pulumi/pulumi-java/pkg/codegen/java@v0.14.0",
    ],
  },
};

/** @param {SdkLanguage} language */
const generatorOf = (language) => (language === "dotnet" || language === "java" ? "earlier" : "current");

/** Message of a CLI whose language host is missing or older than its `gen-sdk`. */
const hasNoGenerator = /no language plugin|not implemented/i;

/**
 * Path of the SDK, or the tool that is missing.
 * @typedef {{ folder: string, source: "cli" | "build" } | { reason: string }} GeneratedSdk
 */

/**
 * Generates one language's SDK from the package schema: with the CLI's command if its language hosts support it,
 * otherwise with Pulumi's published generators, built once with Go and stored next to the CLI. Only a missing tool
 * skips the SDK; a generator that fails is an error.
 * @param {SdkLanguage} language
 * @param {object} request
 * @param {string} request.schema Path of the package schema.
 * @param {string} request.target Folder for the SDKs; the SDK is written to a new subfolder with the language's name.
 * @param {import("../cli/folder.mjs").Cli} request.cli
 * @param {string} [request.go] The `go` command.
 * @param {NodeJS.ProcessEnv} [request.env]
 * @param {import("../progress.mjs").Progress} [request.progress]
 * @returns {Promise<GeneratedSdk>}
 */
export async function generateSdk(
  language,
  { schema, target, cli, go = "go", env = process.env, progress = silentProgress },
) {
  const temporaryFolder = await mkdtemp(join(tmpdir(), "sdk-"));
  try {
    const args = [
      "package",
      "gen-sdk",
      schema,
      "--language",
      language,
      "--local",
      "--out",
      join(temporaryFolder, "cli"),
    ];
    const settings = { ...withCliOnPath(cli, env), PULUMI_SKIP_UPDATE_CHECK: "true" };
    const result = await run(cli.command, args, { env: settings, timeout: 120_000 });
    const cliOutput = join(temporaryFolder, "cli", language);
    const source = result.code === 0 && existsSync(cliOutput) ? "cli" : "build";
    if (source === "build") {
      const generator = await findGenerator(generatorOf(language), cli, { go, env, progress }).catch((error) => {
        throw error instanceof ToolMissing && !hasNoGenerator.test(result.stderr)
          ? new Error(`\`pulumi package gen-sdk\` failed: ${lastLines(result)}`)
          : error;
      });
      const finished = await run(generator, [schema, join(temporaryFolder, "build"), language], {
        env,
        timeout: 120_000,
      });
      if (finished.code !== 0) throw new Error(lastLines(finished));
    }
    const folder = join(target, language);
    await rm(folder, { recursive: true, force: true });
    await cp(source === "cli" ? cliOutput : join(temporaryFolder, "build", language), folder, { recursive: true });
    if (language === "go") await completeGoModule(folder, schema);
    return { folder, source };
  } catch (error) {
    const reason = `the SDK for ${language} cannot be generated: ${error instanceof Error ? error.message : error}`;
    const advice = `install a Pulumi CLI with the host of ${language}, or Go 1.25 or later (https://go.dev/dl/)`;
    if (error instanceof ToolMissing) return { reason: `${reason}; ${advice}` };
    throw new Error(reason, { cause: error });
  } finally {
    await rm(temporaryFolder, { recursive: true, force: true });
  }
}

/**
 * Module path of the files. The generators leave it to the publisher, but programs require it.
 * @param {string} folder
 * @param {string} schema
 */
async function completeGoModule(folder, schema) {
  const file = join(folder, "go.mod");
  if (existsSync(file)) return;
  const { language } = JSON.parse(await readFile(schema, "utf8"));
  const lines = [
    `module ${language.go.importBasePath}`,
    "",
    "go 1.25",
    "",
    `require github.com/pulumi/pulumi/sdk/v3 ${generatorVersion}`,
    "",
  ];
  await writeFile(file, lines.join("\n"));
}

/**
 * Path of a generator built from sdk-codegen. Its name contains the checksum of its sources.
 * @param {keyof typeof generators} name
 * @param {import("../cli/folder.mjs").Cli} cli
 * @param {{ go: string, env: NodeJS.ProcessEnv, progress: import("../progress.mjs").Progress }} options
 * @returns {Promise<string>}
 */
async function findGenerator(name, cli, { go, env, progress }) {
  const { version, otherModules } = generators[name];
  const sources = ["main", name].map((file) => fileURLToPath(new URL(`sdk-codegen/${file}.go`, import.meta.url)));
  const checksum = createHash("sha256").update(`${version} ${otherModules}`);
  for (const source of sources) checksum.update(await readFile(source));
  const executable = `sdk-codegen-${checksum.digest("hex").slice(0, 12)}`;
  // A CLI on PATH and its folder belong to the user.
  const cacheFolder = cli.source === "path" ? join(root, ".serverless-compute") : dirname(cli.folder);
  const path = join(cacheFolder, executable);
  if (existsSync(path)) return path;
  return withLock(`${path}.lock`, async () => {
    if (existsSync(path)) return path;
    const module = "github.com/pulumi/pulumi/pkg/v3";
    const recipe = { executable, module, version, otherModules, sources, replace: engineReplacements };
    await installExecutable(recipe, {
      label: "the SDK generator",
      folder: cacheFolder,
      beside: cacheFolder,
      go,
      env,
      progress,
    });
    return path;
  });
}

/**
 * The languages that a command names; all if it names none.
 * @param {string[]} names
 * @returns {readonly SdkLanguage[]}
 */
export function readLanguages(names) {
  if (names.length === 0) return sdkLanguages;
  return names.map((name) => {
    const language = sdkLanguages.find((known) => known === name);
    if (language === undefined)
      throw new Error(`${name}: is unknown; use ${sdkLanguages.slice(0, -1).join(", ")} or ${sdkLanguages.at(-1)}`);
    return language;
  });
}

const usage = `Usage: npm run sdks -- [<folder> [${sdkLanguages.join("|")} …]]`;

if (isMain(import.meta.url)) {
  await runScript(async () => {
    const [folder, ...names] = process.argv.slice(2);
    const languages = readLanguages(names);
    const progress = createProgress();
    const target = resolve(folder ?? join(root, ".serverless-compute", "sdks"));
    const cli = await findCli({ progress });
    for (const language of languages) {
      const generated = await generateSdk(language, { schema: join(root, "schema.json"), target, cli, progress });
      if ("reason" in generated) throw new Error(generated.reason);
      console.log(`${language}: ${generated.folder}`);
    }
    return 0;
  }, usage);
}

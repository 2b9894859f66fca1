import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isNotFound, lastLines, run, ToolMissing } from "../child.mjs";
import { isOlder, parts } from "./folder.mjs";

/**
 * One executable of the CLI and the Go module it is built from.
 * @typedef {object} Recipe
 * @property {string} executable
 * @property {string} module
 * @property {string} version
 * @property {string} [package] Path of its main package below the module.
 * @property {string[]} [sources] Instead of `package`: Go files of ours that use the module.
 * @property {string[]} [otherModules] Additional modules with versions, `module@version`.
 * @property {string} [beside] A file of the module that must be in the executable's folder.
 * @property {string[]} [replace] Replace lines, which `go install` rejects.
 * @property {string} [versionVariable] Variable with the output of `pulumi version`.
 */

/** Replace lines of every module that uses the engine's packages; `go` accepts them only in the main module. */
export const engineReplacements = [
  "github.com/atotto/clipboard => github.com/tgummerer/clipboard v0.0.0-20241001131231-d02d263e614e",
];

/** Lowest Go version that builds the modules. */
const minimumGo = "1.25.0";

/**
 * Modules to build for a CLI version. Language hosts are separate modules without matching release numbers. Each entry
 * names the newest published host that works with this engine.
 * @param {string} version
 * @returns {Recipe[]}
 */
function recipesFor(version) {
  return [
    {
      executable: parts.engine,
      module: "github.com/pulumi/pulumi/pkg/v3",
      version: `v${version}`,
      package: "cmd/pulumi",
      replace: engineReplacements,
      versionVariable: "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version",
    },
    {
      executable: parts.nodeHost,
      module: "github.com/pulumi/pulumi/sdk/v3",
      version: "v3.68.0",
      package: "nodejs/cmd/pulumi-language-nodejs",
    },
  ];
}

/**
 * Language hosts that only some programs require, by the `runtime` of a project.
 * @type {Record<"yaml" | "python" | "go", Recipe>}
 */
const additionalHosts = {
  yaml: {
    executable: "pulumi-language-yaml",
    module: "github.com/pulumi/pulumi-yaml",
    version: "v1.25.0",
    package: "cmd/pulumi-language-yaml",
    replace: engineReplacements,
  },
  python: {
    executable: "pulumi-language-python",
    module: "github.com/pulumi/pulumi/sdk/v3",
    version: "v3.70.0",
    package: "python/cmd/pulumi-language-python",
    beside: "python/cmd/pulumi-language-python-exec",
  },
  go: {
    executable: "pulumi-language-go",
    module: "github.com/pulumi/pulumi/sdk/v3",
    version: "v3.54.0",
    package: "go/pulumi-language-go",
  },
};

/** @typedef {keyof typeof additionalHosts} MoreHosts */

/**
 * File name of a runtime's host.
 * @param {MoreHosts} runtime
 */
export const hostExecutable = (runtime) => additionalHosts[runtime].executable;

/**
 * Checks whether a host was built from another version of its module. Hosts of Pulumi's releases have no checksum of a published
 * module.
 * @param {MoreHosts} runtime
 * @param {string} file
 * @param {string} go The `go` command.
 * @param {NodeJS.ProcessEnv} env
 */
export async function isOutdatedHost(runtime, file, go, env) {
  const { stdout } = await run(go, ["version", "-m", file], { env, timeout: 20_000 }).catch(() => ({ stdout: "" }));
  const built = /^\tmod\t\S+\t(\S+)\th1:/m.exec(stdout)?.[1];
  return built !== undefined && built !== additionalHosts[runtime].version;
}

/**
 * Builds one additional language host into a folder.
 * @param {MoreHosts} runtime
 * @param {InstallRequest} request
 */
export const installHost = (runtime, request) => installExecutable(additionalHosts[runtime], request);

/**
 * @typedef {object} InstallRequest
 * @property {string} label Subject of the progress line.
 * @property {string} folder Target folder; created if missing.
 * @property {string} beside Folder on the same disk for incomplete files.
 * @property {string} go The `go` command.
 * @property {NodeJS.ProcessEnv} env
 * @property {import("../progress.mjs").Progress} progress
 */

/**
 * Builds an executable and moves it into a folder atomically.
 * @param {Recipe} recipe
 * @param {InstallRequest} request
 */
export async function installExecutable(recipe, { label, folder, beside, go, env, progress }) {
  const step = progress.start(`Building ${label} from its Go module, about 2 minutes, once`);
  await mkdir(beside, { recursive: true });
  const temporaryFolder = await mkdtemp(join(beside, `.draft-${recipe.executable}-`));
  try {
    await checkGo(go, env);
    const bin = join(temporaryFolder, "bin");
    await mkdir(bin);
    await buildOne(recipe, { folder: temporaryFolder, bin, go, env });
    await mkdir(folder, { recursive: true });
    const otherFiles = (await readdir(bin)).filter((file) => file !== recipe.executable);
    // The executable comes last, so that its presence implies all files that it requires.
    for (const file of [...otherFiles, recipe.executable]) await rename(join(bin, file), join(folder, file));
  } finally {
    step.done();
    await rm(temporaryFolder, { recursive: true, force: true });
  }
}

/**
 * Builds the CLI from its published Go modules into `<folder>/bin`.
 * @param {object} request
 * @param {string} request.version
 * @param {string} request.folder An empty folder.
 * @param {string} request.go The `go` command.
 * @param {NodeJS.ProcessEnv} request.env
 * @param {string} request.dynamicProvider The file of Pulumi's npm package that serves dynamic resources.
 * @param {Promise<unknown>} request.installed Resolves once that file exists.
 */
export async function buildCli({ version, folder, go, env, dynamicProvider, installed }) {
  await checkGo(go, env);
  const bin = join(folder, "bin");
  await mkdir(bin);
  for (const recipe of recipesFor(version)) {
    await buildOne(recipe, { folder, bin, go, env });
  }
  await installed;
  await copyFile(dynamicProvider, join(bin, parts.dynamicProvider)).catch(() => {
    throw new Error(`${parts.dynamicProvider} is missing from node_modules/@pulumi/pulumi: run npm ci first`);
  });
}

/**
 * Returns the version of Go. Throws `ToolMissing` if Go is missing or too old.
 * @param {string} go
 * @param {NodeJS.ProcessEnv} env
 */
export async function checkGo(go = "go", env = process.env) {
  const finished = await run(go, ["version"], { env, timeout: 20_000 }).catch((error) => {
    throw isNotFound(error) ? new ToolMissing(`there is no \`${go}\` on PATH`) : error;
  });
  const installed = /go(\d+\.\d+(?:\.\d+)?)/.exec(finished.stdout)?.[1];
  if (finished.code !== 0 || installed === undefined)
    throw new Error(`\`go version\` failed: ${lastLines(finished, 1)}`);
  if (isOlder(installed, minimumGo)) throw new ToolMissing(`Go ${installed} is too old, 1.25 or later is needed`);
  return installed;
}

/**
 * Builds one executable in a temporary module: `go install` rejects modules with replace lines.
 * @param {Recipe} recipe
 * @param {object} place
 * @param {string} place.folder
 * @param {string} place.bin
 * @param {string} place.go
 * @param {NodeJS.ProcessEnv} place.env
 */
async function buildOne(recipe, { folder, bin, go, env }) {
  const module = join(folder, `module-${recipe.executable}`);
  await mkdir(module);
  const lines = ["module build", "go 1.25", ...(recipe.replace ?? []).map((line) => `replace ${line}`), ""];
  await writeFile(join(module, "go.mod"), lines.join("\n"));
  const target = recipe.package === undefined ? recipe.module : `${recipe.module}/${recipe.package}`;
  for (const source of recipe.sources ?? []) await copyFile(source, join(module, basename(source)));
  const main = recipe.sources ? "." : target;
  const flags = ["-s", "-w", ...(recipe.versionVariable ? [`-X ${recipe.versionVariable}=${recipe.version}`] : [])];
  const steps = [
    ["get", `${target}@${recipe.version}`, ...(recipe.otherModules ?? [])],
    ["build", "-trimpath", "-ldflags", flags.join(" "), "-o", join(bin, recipe.executable), main],
  ];
  const settings = { ...env, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "-mod=mod" };
  /** @param {string[]} args */
  const step = async (args) => {
    const finished = await run(go, args, { cwd: module, env: settings });
    if (finished.code !== 0) {
      throw new Error(`\`go ${args[0]}\` of ${recipe.executable} failed: ${lastLines(finished) || finished.code}`);
    }
    return finished.stdout.trim();
  };
  for (const args of steps) await step(args);
  if (recipe.beside) {
    const sources = await step(["list", "-m", "-f", "{{.Dir}}", recipe.module]);
    const target = join(bin, basename(recipe.beside));
    await copyFile(join(sources, recipe.beside), target);
    // Go stores modules read-only and not executable.
    await chmod(target, 0o755);
  }
  await rm(module, { recursive: true });
}

import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isNotFound, lastLines, run, ToolMissing } from "../child.mjs";
import { checkGo } from "../cli/build.mjs";
import { compilerSteps, goProgram, projectName, runtimes } from "./project.mjs";

/** @typedef {import("./project.mjs").Project} Project */

/**
 * Packages to install.
 * @typedef {object} Packages
 * @property {string} folder Folder of the npm packages.
 * @property {string[]} files Their file names.
 * @property {string} version
 * @property {string | undefined} sdk Folder of the SDK; undefined if the language requires none.
 * @property {string} goModule Module path of the Go SDK.
 */

/** Packages that a new program in TypeScript requires. npm selects the newest `@pulumi/pulumi` for the installed Node. */
const typescriptPackages = ["@pulumi/pulumi@3", "typescript@5.9", "@types/node@20"];

/** Subfolder of a project with the npm packages. */
const packageFolder = "release";

/**
 * Fails if the machine lacks a tool that the project's language requires.
 * @param {Project} project
 */
export async function checkTools({ language }) {
  if (language === "go") await checkGo();
  if (language !== "python") return;
  const finished = await run("python3", ["-m", "venv", "--help"], { timeout: 20_000 }).catch((error) => {
    throw isNotFound(error) ? new ToolMissing("python3 is not on PATH; install Python 3.10 or later") : error;
  });
  if (finished.code !== 0) throw new ToolMissing("python3 has no module venv; install it, for example python3-venv");
}

/**
 * Installs packages into a project. If a step fails or a signal interrupts it, the project has its previous files.
 * @param {Project} project
 * @param {Packages} packages
 * @returns {Promise<string[]>} Steps that the user must take.
 */
export function installPackages(project, packages) {
  const texts = ["package.json", "package-lock.json", "Pulumi.yaml", "requirements.txt", "go.mod", "go.sum"];
  const files = packages.files.map((file) => join(packageFolder, file));
  const copied = [...texts, ...files, join("sdks", project.language)];
  const created = ["node_modules", packageFolder, "sdks", venvOf(project)];
  return restoringOnFailure(project.folder, { copied, created }, async (interrupt) => {
    await installNpmPackages(project, packages, interrupt);
    const steps = await installSdk(project, packages, interrupt);
    return [...steps, ...(await configurePlugin(project, packages.version)), ...compilerSteps(project)];
  });
}

/** Signals that end an installation. */
const interrupts = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

/** Time for an interrupted step, ms. npm restores `node_modules`, but first waits for its downloads. */
const interruptGrace = 5_000;

/**
 * Runs `work`. If it fails, restores the copied files and folders, and deletes whatever did not exist. A signal to this
 * process aborts the signal of `work`.
 * @template T
 * @param {string} folder
 * @param {{ copied: string[], created: string[] }} paths Relative to the folder. Existing folders in `created` may be large and are not copied.
 * @param {(interrupt: AbortSignal) => Promise<T>} work
 */
async function restoringOnFailure(folder, { copied, created }, work) {
  const backup = await mkdtemp(join(tmpdir(), "add-backup-"));
  const exists = (/** @type {string} */ path) => existsSync(join(folder, path));
  const saved = copied.filter(exists);
  const missing = [...copied, ...created].filter((path) => !exists(path));
  const stop = new AbortController();
  const repair = exists("node_modules") ? '; run "npm install" in that folder to repair node_modules' : "";
  const reason = `${folder}: the installation was interrupted; the project has its previous files${repair}`;
  const interrupt = () => stop.abort(new Error(reason));
  for (const signal of interrupts) process.on(signal, interrupt);
  try {
    for (const path of saved) await cp(join(folder, path), join(backup, path), { recursive: true });
    const result = await work(stop.signal);
    stop.signal.throwIfAborted();
    return result;
  } catch (error) {
    for (const path of [...missing, ...saved]) await rm(join(folder, path), { recursive: true, force: true });
    for (const path of saved) await cp(join(backup, path), join(folder, path), { recursive: true });
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    for (const signal of interrupts) process.off(signal, interrupt);
    await rm(backup, { recursive: true, force: true });
  }
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, interrupt: AbortSignal }} options
 */
async function runIn(command, args, { cwd, interrupt }) {
  const finished = await run(command, args, { cwd, interrupt, grace: interruptGrace });
  if (finished.code !== 0) throw new Error(`${command} ${args[0]} failed in ${cwd}:\n${lastLines(finished, 20)}`);
}

/**
 * @param {Project} project
 * @param {Packages} packages
 * @param {AbortSignal} interrupt
 */
async function installNpmPackages({ folder, language, isNew }, packages, interrupt) {
  await mkdir(join(folder, packageFolder), { recursive: true });
  for (const file of packages.files) await cp(join(packages.folder, file), join(folder, packageFolder, file));
  const manifest = join(folder, "package.json");
  if (!existsSync(manifest)) await writeFile(manifest, '{\n  "private": true\n}\n');
  const own = packages.files.map((file) => `./${packageFolder}/${file}`);
  const others = isNew && language === "typescript" ? typescriptPackages : [];
  // The plugin does not require the packages that programs in TypeScript require.
  const flags = language === "typescript" ? [] : ["--omit=peer"];
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", ...flags, ...own, ...others];
  await runIn("npm", args, { cwd: folder, interrupt });
}

/**
 * @param {Project} project
 * @param {Packages} packages
 * @param {AbortSignal} interrupt
 * @returns {Promise<string[]>}
 */
async function installSdk(project, { sdk, goModule }, interrupt) {
  const { folder, language, settings } = project;
  const options = { cwd: folder, interrupt };
  if (sdk === undefined) return [];
  const path = `./sdks/${language}`;
  await rm(join(folder, path), { recursive: true, force: true });
  await cp(sdk, join(folder, path), { recursive: true });
  switch (language) {
    case "python": {
      const toolchain = /^\s+toolchain:\s*(uv|poetry)\b/m.exec(settings ?? "")?.[1];
      if (toolchain !== undefined) return [`${toolchain} add ${path}`];
      const venv = join(folder, venvOf(project));
      if (!existsSync(venv)) await runIn("python3", ["-m", "venv", venv], options);
      const python = join(venv, ...(process.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"]));
      await runIn(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", path], options);
      await addLine(join(folder, "requirements.txt"), path);
      const isNamed = settings === undefined || namedVenv(settings) !== undefined;
      return isNamed ? [] : [`. ${venvOf(project)}/bin/activate   # Pulumi.yaml names no virtualenv`];
    }
    case "go":
      if (!existsSync(join(folder, "go.mod"))) await runIn("go", ["mod", "init", goProgram], options);
      await runIn("go", ["mod", "edit", `-require=${goModule}@v0.0.0`, `-replace=${goModule}=${path}`], options);
      return ["go mod tidy   # when the program imports the module"];
    case "dotnet":
      return [`dotnet add reference ${path}/Pulumi.ServerlessCompute.csproj`];
    case "java":
      return [
        `add ${path}/src/main/java to the sources of your build, and ${path}/src/main/resources to its resources`,
        "add com.pulumi:pulumi 1.x and com.google.code.findbugs:jsr305 3.x to its dependencies",
      ];
    default:
      return [];
  }
}

/**
 * Adds the plugin to Pulumi.yaml, which is created in an empty folder.
 * @param {Project} project
 * @param {string} version
 * @returns {Promise<string[]>}
 */
async function configurePlugin(project, version) {
  const { folder, language, isNew, settings } = project;
  const path = join(folder, "Pulumi.yaml");
  if (language === "none") return [];
  const plugin = language === "typescript" ? "" : pluginText(version);
  if (isNew) {
    await writeFile(path, `name: ${projectName(folder)}\n${runtimeText(language)}${plugin}`);
  } else if (settings !== undefined && plugin !== "") {
    if (!/^plugins:/m.test(settings)) await writeFile(path, `${settings.trimEnd()}\n${plugin}`);
    else if (!/^\s+-?\s*name:\s*serverless-compute\s*$/m.test(settings)) {
      return [`add this provider to \`plugins\` in Pulumi.yaml:\n${plugin}`];
    }
  }
  return [];
}

/** @param {string} version */
const pluginText = (version) => `plugins:
  providers:
    - name: serverless-compute
      path: node_modules/pulumi-serverless-compute/bin
      version: ${version}
`;

/** @param {Project["language"]} language */
const runtimeText = (language) =>
  language === "python"
    ? "runtime:\n  name: python\n  options:\n    virtualenv: venv\n"
    : `runtime: ${runtimes[language]}\n`;

/** @param {string} settings Text of Pulumi.yaml. */
const namedVenv = (settings) => /^\s+virtualenv:\s*["']?([^"'\s#]+)/m.exec(settings)?.[1];

/**
 * Subfolder with the virtual environment of a program in Python.
 * @param {Project} project
 */
const venvOf = ({ folder, settings = "" }) =>
  namedVenv(settings) ?? ["venv", ".venv"].find((name) => existsSync(join(folder, name))) ?? "venv";

/**
 * @param {string} path
 * @param {string} line
 */
async function addLine(path, line) {
  const text = await readFile(path, "utf8").catch(() => "");
  if (text.split(/\r?\n/).includes(line)) return;
  await writeFile(path, `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`);
}

import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isNotFound, lastLines, run, ToolMissing } from "../child.mjs";
import { checkGo } from "../cli/build.mjs";
import { runtimes } from "./project.mjs";

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
 * Installs packages into a project. If a step fails, the project has its previous files.
 * @param {Project} project
 * @param {Packages} packages
 * @returns {Promise<string[]>} Steps that the user must take.
 */
export async function installPackages(project, packages) {
  const changed = ["package.json", "package-lock.json", "Pulumi.yaml", "requirements.txt", "go.mod", "go.sum"];
  const created = ["node_modules", packageFolder, "sdks", venvOf(project)];
  const restore = await savedState(project.folder, changed, created);
  try {
    await installNpmPackages(project, packages);
    const steps = await installSdk(project, packages);
    return [...steps, ...(await configurePlugin(project, packages.version))];
  } catch (error) {
    await restore();
    throw error;
  }
}

/**
 * Returns a function that restores the text of files and deletes what did not exist.
 * @param {string} folder
 * @param {string[]} files
 * @param {string[]} folders Folders whose content is not restored if they existed.
 */
async function savedState(folder, files, folders) {
  const saved = await Promise.all(
    files.map(async (name) => ({
      path: join(folder, name),
      text: await readFile(join(folder, name)).catch(() => null),
    })),
  );
  const missing = folders.map((name) => join(folder, name)).filter((path) => !existsSync(path));
  return async () => {
    for (const path of missing) await rm(path, { recursive: true, force: true });
    for (const { path, text } of saved) await (text === null ? rm(path, { force: true }) : writeFile(path, text));
  };
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 */
async function runIn(command, args, cwd) {
  const finished = await run(command, args, { cwd });
  if (finished.code !== 0) throw new Error(`${command} ${args[0]} failed in ${cwd}:\n${lastLines(finished, 20)}`);
}

/**
 * @param {Project} project
 * @param {Packages} packages
 */
async function installNpmPackages({ folder, language, isNew }, packages) {
  await mkdir(join(folder, packageFolder), { recursive: true });
  for (const file of packages.files) await cp(join(packages.folder, file), join(folder, packageFolder, file));
  const manifest = join(folder, "package.json");
  if (!existsSync(manifest)) await writeFile(manifest, '{ "private": true }\n');
  const own = packages.files.map((file) => `./${packageFolder}/${file}`);
  const others = isNew && language === "typescript" ? typescriptPackages : [];
  // The plugin does not require the packages that programs in TypeScript require.
  const flags = language === "typescript" ? [] : ["--omit=peer"];
  await runIn("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...flags, ...own, ...others], folder);
}

/**
 * @param {Project} project
 * @param {Packages} packages
 * @returns {Promise<string[]>}
 */
async function installSdk(project, { sdk, goModule }) {
  const { folder, language, settings } = project;
  if (sdk === undefined) return [];
  const path = `./sdks/${language}`;
  await rm(join(folder, path), { recursive: true, force: true });
  await cp(sdk, join(folder, path), { recursive: true });
  switch (language) {
    case "python": {
      const toolchain = /^\s+toolchain:\s*(uv|poetry)\b/m.exec(settings ?? "")?.[1];
      if (toolchain !== undefined) return [`${toolchain} add ${path}`];
      const venv = join(folder, venvOf(project));
      if (!existsSync(venv)) await runIn("python3", ["-m", "venv", venv], folder);
      const python = join(venv, ...(process.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"]));
      await runIn(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", path], folder);
      await addLine(join(folder, "requirements.txt"), path);
      return [];
    }
    case "go":
      if (!existsSync(join(folder, "go.mod"))) await runIn("go", ["mod", "init", nameOf(folder)], folder);
      await runIn("go", ["mod", "edit", `-require=${goModule}@v0.0.0`, `-replace=${goModule}=${path}`], folder);
      return ["go mod tidy   # when the program imports the module"];
    case "dotnet":
      return [`dotnet add reference ${path}`];
    case "java":
      return [`add ${path} to your build`];
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
  const plugin = language === "typescript" ? "" : pluginText(version);
  if (isNew) {
    await writeFile(path, `name: ${nameOf(folder)}\n${runtimeText(language)}${plugin}`);
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

/**
 * Name for a project or module in a folder.
 * @param {string} folder
 */
const nameOf = (folder) => basename(folder).replaceAll(/[^\w.-]/g, "-");

/**
 * Subfolder with the virtual environment of a program in Python.
 * @param {Project} project
 */
const venvOf = ({ settings = "" }) => /^\s+virtualenv:\s*["']?([^"'\s#]+)/m.exec(settings)?.[1] ?? "venv";

/**
 * @param {string} path
 * @param {string} line
 */
async function addLine(path, line) {
  const text = await readFile(path, "utf8").catch(() => "");
  if (text.split(/\r?\n/).includes(line)) return;
  await writeFile(path, `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`);
}

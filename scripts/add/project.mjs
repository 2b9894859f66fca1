import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isOlder } from "../cli/folder.mjs";
import { root } from "../entry.mjs";

/** Languages of programs. @typedef {keyof typeof runtimes} ProgramLanguage */

/** Runtime in Pulumi.yaml for each language of a program. `none` is for the local service without a program. */
export const runtimes = /** @type {const} */ ({
  typescript: "nodejs",
  python: "python",
  go: "go",
  yaml: "yaml",
  dotnet: "dotnet",
  java: "java",
  none: "none",
});

/** Module of a new program in Go. The name of its folder may not be valid, such as `go`. */
export const goProgram = "program";

/**
 * Name of a new project in a folder, as a YAML scalar. Without quotes, a name such as `2026` is not a string.
 * @param {string} folder
 */
export const projectName = (folder) => JSON.stringify(basename(folder).replaceAll(/[^\w.-]/g, "-"));

/** Lowest `@pulumi/pulumi` that the npm package accepts; equals its peer range. */
const lowestPulumi = "3.200.0";

/**
 * A folder for the packages.
 * @typedef {object} Project
 * @property {string} folder
 * @property {ProgramLanguage} language
 * @property {boolean} isNew True for an empty folder.
 * @property {string | undefined} settings Text of Pulumi.yaml.
 */

/** Files of the package managers other than npm, by the manager's name. */
const otherLockfiles = { "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun" };

/** Places where package managers read which file replaces a package of the registry, if not in the overrides of package.json. */
const overridesOf = new Map([
  ["pnpm", "the overrides of pnpm-workspace.yaml"],
  ["yarn", "the resolutions of package.json"],
]);

/**
 * Reads a project's folder and checks that the packages can be installed. Changes nothing. An error is one sentence with the fault and the remedy.
 * @param {string} folder
 * @param {string} [language] The language of the program. Default: the runtime of Pulumi.yaml, otherwise TypeScript.
 * @returns {Project}
 */
export function readProject(folder, language) {
  if (!existsSync(folder)) throw new Error(`${folder}: does not exist; create it, for example with mkdir`);
  if (!statSync(folder).isDirectory()) throw new Error(`${folder}: is a file; name the project's folder`);
  if (folder === root) throw new Error(`${folder}: is this clone; name the folder of your own project`);
  const files = readdirSync(folder);
  const isNew = files.every((name) => name.startsWith("."));
  if (!isNew && !["Pulumi.yaml", "PulumiPolicy.yaml", "package.json"].some((name) => files.includes(name))) {
    throw new Error(
      `${folder}: is not a Pulumi project, because it contains no Pulumi.yaml; name the folder of a project, or an empty one`,
    );
  }
  const settings = textOf(join(folder, "Pulumi.yaml"));
  const project = { folder, language: languageOf(folder, settings, language), isNew, settings };
  const manifest = manifestOf(folder);
  checkPackageManager(folder, settings, manifest);
  checkPulumi(folder, manifest);
  return project;
}

/** @param {string} path */
const textOf = (path) => (existsSync(path) ? readFileSync(path, "utf8") : undefined);

/**
 * @param {string} folder
 * @param {string | undefined} settings
 * @param {string | undefined} named
 * @returns {ProgramLanguage}
 */
function languageOf(folder, settings, named) {
  const known = Object.keys(runtimes).join(", ");
  const runtime = settings && /^runtime:\s*(?:name:\s*)?["']?([\w-]+)/m.exec(settings)?.[1];
  if (named !== undefined && !isLanguage(named))
    throw new Error(`--language ${named}: is unknown; use one of ${known}`);
  if (runtime === undefined) return named ?? "typescript";
  const found = Object.keys(runtimes)
    .filter(isLanguage)
    .find((language) => runtimes[language] === runtime);
  if (found === undefined) {
    throw new Error(
      `${join(folder, "Pulumi.yaml")}: there is no package for the runtime ${runtime}; use one of ${known}`,
    );
  }
  if (named !== undefined && named !== found) {
    throw new Error(`--language ${named}: ${join(folder, "Pulumi.yaml")} has the runtime ${runtime}; omit the option`);
  }
  return found;
}

/** @param {string} name @returns {name is ProgramLanguage} */
const isLanguage = (name) => Object.hasOwn(runtimes, name);

/**
 * @typedef {object} Manifest
 * @property {string} [packageManager]
 * @property {unknown} [workspaces]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [devDependencies]
 */

/**
 * @param {string} folder
 * @returns {Manifest}
 */
function manifestOf(folder) {
  const path = join(folder, "package.json");
  const text = textOf(path);
  if (text === undefined) return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${path}: is not valid JSON; correct it first`);
  }
}

/**
 * @param {string} folder
 * @param {string | undefined} settings
 * @param {Manifest} manifest
 */
function checkPackageManager(folder, settings, manifest) {
  const named =
    /^(\w+)@/.exec(manifest.packageManager ?? "")?.[1] ?? /^\s+packagemanager:\s*(\w+)/m.exec(settings ?? "")?.[1];
  const locked = lockfileOf(folder);
  const manager = locked === undefined ? named : otherLockfiles[locked];
  if (manager === undefined || manager === "npm") return;
  const overrides = overridesOf.get(manager) ?? "the overrides of package.json";
  throw new Error(
    `${folder}: uses ${manager}${locked === undefined ? "" : ` (${locked})`}, but this command only runs npm; write the packages to a new folder with "npm run build && node scripts/release/assets.mjs <folder>", set serverless-compute-api to "file:<its .tgz file>" in ${overrides}, and add the three .tgz files with ${manager}`,
  );
}

/**
 * The lockfile of another package manager in a folder, or in a folder above whose workspace contains it.
 * @param {string} folder
 * @returns {keyof typeof otherLockfiles | undefined}
 */
function lockfileOf(folder) {
  const names = /** @type {(keyof typeof otherLockfiles)[]} */ (Object.keys(otherLockfiles));
  for (let place = folder; ; place = dirname(place)) {
    const isWorkspace = existsSync(join(place, "pnpm-workspace.yaml")) || manifestOf(place).workspaces !== undefined;
    const found = place === folder || isWorkspace ? names.find((name) => existsSync(join(place, name))) : undefined;
    if (found !== undefined || existsSync(join(place, ".git")) || place === dirname(place)) return found;
  }
}

/**
 * Checks the version of `@pulumi/pulumi` that is installed, locked or required.
 * @param {string} folder
 * @param {Manifest} manifest
 */
function checkPulumi(folder, { dependencies, devDependencies }) {
  const range = dependencies?.["@pulumi/pulumi"] ?? devDependencies?.["@pulumi/pulumi"];
  if (range === undefined) return;
  const path = "node_modules/@pulumi/pulumi";
  const installed = textOf(join(folder, path, "package.json"));
  const lockfile = textOf(join(folder, "package-lock.json"));
  const version =
    (installed && JSON.parse(installed).version) || (lockfile && JSON.parse(lockfile).packages?.[path]?.version);
  if (!(version === undefined ? excludesLowest(range) : isOlder(version, lowestPulumi))) return;
  throw new Error(
    `${folder}: @pulumi/pulumi is ${version ?? range}, but ${lowestPulumi} or later is required; run "npm install @pulumi/pulumi@3" in that folder`,
  );
}

/**
 * Tests whether a range of npm allows no version from the lowest one on: it names an older version, and a caret allows only its major.
 * @param {string} range
 */
function excludesLowest(range) {
  const [, operator, version] = /^\s*([~^=v]*)\s*(\d+(?:\.\d+){0,2})\s*$/.exec(range) ?? [];
  if (version === undefined) return false;
  const [major = 0, minor] = version.split(".").map(Number);
  if (operator === "^" || minor === undefined) return major < 3;
  return isOlder(`${major}.${minor}.999`, lowestPulumi);
}

/**
 * The change that `tsc` requires in a project's tsconfig.json, as a step. Resolution `node` checks the types of zod's CommonJS
 * files, which have default imports.
 * @param {Project} project
 * @returns {string[]}
 */
export function compilerSteps({ folder, language }) {
  const text = textOf(join(folder, "tsconfig.json"));
  if (language !== "typescript" || text === undefined) return [];
  const isAccepted = !/"moduleResolution"\s*:\s*"node(10)?"/i.test(text);
  if (isAccepted || /"(esModuleInterop|skipLibCheck)"\s*:\s*true/.test(text)) return [];
  return [
    'add "esModuleInterop": true to tsconfig.json   # tsc with "moduleResolution": "node" requires it or "skipLibCheck"',
  ];
}

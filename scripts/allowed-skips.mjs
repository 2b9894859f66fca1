import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { findChromium } from "./chromium.mjs";
import { isOlder } from "./cli/folder.mjs";
import { engineMissing } from "./docker-engine.mjs";

/**
 * A skip that CI accepts.
 * @typedef {object} AllowedSkip
 * @property {string} file Regular expression of whole paths, from the repository's root.
 * @property {string} [test] Regular expression found in the test's full name; default: every test of the file.
 * @property {string} reason Why the test cannot run under the condition.
 * @property {Condition} when Condition of the machine.
 */

/** @typedef {keyof typeof conditions} Condition */

/**
 * Capabilities that a machine may lack. CI checks them itself, because a test that reports one as missing may be the
 * defect.
 */
const conditions = {
  "no Go": () => isOlder(/go(\d+\.\d+(?:\.\d+)?)/.exec(printedBy("go", "version"))?.[1] ?? "0.0.0", "1.25.0"),
  "no gofmt": () => !starts("gofmt", "-h"),
  "no Python": () => printedBy("python3", "-c", "import ensurepip, venv; print(1)") === "",
  "no Maven": () => printedBy("mvn", "--version") === "",
  "no Java compiler": () => printedBy("javac", "-version") === "",
  "no Chromium": () => findChromium() === undefined,
  "no Docker Engine": () => engineMissing() !== undefined,
  "no Linux": () => process.platform !== "linux",
  "no /proc": () => !existsSync("/proc/self"),
};

/**
 * Tests whether a condition holds on this machine.
 * @param {Condition} condition
 */
export const isMet = (condition) => conditions[condition]();

/**
 * Reads the list of a repository.
 * @param {string} path
 * @returns {AllowedSkip[]}
 */
export function readAllowedSkips(path) {
  /** @type {unknown} */
  const list = JSON.parse(readFileSync(path, "utf8"));
  if (!Array.isArray(list)) throw new Error(`${path}: must be a list`);
  return list.map((entry, index) => {
    const { file, test, reason, when, ...rest } = entry;
    const unknown = Object.keys(rest);
    const faults = [
      typeof file === "string" || "file must be a string",
      test === undefined || typeof test === "string" || "test must be a string",
      (typeof reason === "string" && reason !== "") || "reason must say why",
      Object.hasOwn(conditions, when) || `when must be one of ${Object.keys(conditions).join(", ")}`,
      unknown.length === 0 || `unknown property ${unknown.join(", ")}`,
    ].filter((fault) => fault !== true);
    if (faults.length > 0) throw new Error(`${path}: entry ${index + 1}: ${faults.join("; ")}`);
    return { file, reason, when, ...(test === undefined ? {} : { test }) };
  });
}

/** @param {string} command @param {...string} args */
function printedBy(command, ...args) {
  const { status, stdout } = spawnSync(command, args, { encoding: "utf8", timeout: 60_000 });
  return status === 0 ? stdout : "";
}

/** @param {string} command @param {...string} args */
function starts(command, ...args) {
  return spawnSync(command, args, { timeout: 60_000 }).error === undefined;
}

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { ToolMissing } from "./child.mjs";
import { findChromium } from "./chromium.mjs";
import { checkGo } from "./cli/build.mjs";
import { engineMissing } from "./docker-engine.mjs";
import { clusterMissing } from "./kubernetes-cluster.mjs";

/** Version of Go, or the reason why there is none that can be used. */
const go = await checkGo().catch((error) => error);

/**
 * Capabilities that a machine may lack. CI checks them itself, because a test that reports one as missing may be the
 * defect.
 */
const conditions = new Map([
  ["no Go", () => go instanceof ToolMissing],
  ["no gofmt", () => !canStart("gofmt", "-h")],
  ["no Python", () => outputOf("python3", "-c", "import ensurepip, venv; print(1)") === ""],
  ["no Maven", () => outputOf("mvn", "--version") === ""],
  ["no Java compiler", () => outputOf("javac", "-version") === ""],
  ["no Chromium", () => findChromium() === undefined],
  ["no Docker Engine", () => engineMissing() !== undefined],
  ["no cluster", () => clusterMissing() !== undefined],
  ["no Linux", () => process.platform !== "linux"],
  ["no /proc", () => !existsSync("/proc/self")],
]);

/**
 * Tests whether a condition holds on this machine.
 * @param {string} condition
 */
export const isConditionMet = (condition) => conditions.get(condition)?.() === true;

const listShape = z.array(
  z.strictObject({
    /** Regular expression of whole paths, from the repository's root. */
    file: z.string(),
    /** Regular expression found in the test's full name; default: every test of the file. */
    test: z.string().optional(),
    /** Why the test cannot run under the condition. */
    reason: z.string().min(1),
    /** Condition of the machine. */
    when: z.string().refine((name) => conditions.has(name), `must be one of ${[...conditions.keys()].join(", ")}`),
  }),
);

/**
 * Reads the skips that CI accepts. Throws an Error that names the entry and the property of each fault.
 * @param {string} path
 */
export function readAllowedSkips(path) {
  const { data, error } = listShape.safeParse(JSON.parse(readFileSync(path, "utf8")));
  if (error) throw new Error(`${path}: ${z.prettifyError(error).replaceAll(/\s*\n\s*/g, " ")}`);
  return data;
}

/** @typedef {ReturnType<typeof readAllowedSkips>[number]} AllowedSkip */

/** @param {string} command @param {...string} args */
function outputOf(command, ...args) {
  const { status, stdout } = spawnSync(command, args, { encoding: "utf8", timeout: 60_000 });
  return status === 0 ? stdout : "";
}

/** @param {string} command @param {...string} args */
function canStart(command, ...args) {
  return spawnSync(command, args, { timeout: 60_000 }).error === undefined;
}

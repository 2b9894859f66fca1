import { readdir, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { afterAll, inject } from "vitest";
import { ToolMissing } from "../../../scripts/child.mjs";
import { findHost } from "../../../scripts/cli/hosts.mjs";
import type { GeneratedSdk } from "../../../scripts/generate/sdks.mjs";
import { createProgress } from "../../../scripts/progress.mjs";
import { pythonWith } from "../../support/python-environment";
import { runChecked } from "../../support/run-checked";
import { repository } from "./sdk";

/** Packages of the virtual environment: Pulumi's SDK, and the generated SDK's runtime and build dependencies. */
const requirements = ["pulumi==3.250.0", "parver==0.5", "setuptools==80.9.0", "wheel==0.45.1"];

/** Requirements of programs in Python. */
export interface Python {
  /** A virtual environment with the SDK. */
  venv: string;
  /** PATH for the engine's commands. */
  path: string;
  /** The missing tool, without which programs cannot run. */
  missing?: string;
}

/** A virtual environment with packages from the registry, created once. */
const packages = (): Promise<string> =>
  pythonWith(requirements, join(repository, ".serverless-compute", `python-${requirements[0]?.replace("==", "-")}`));

/** Creates an environment with those packages and the SDK, like `pip install -r requirements.txt`. */
async function createEnvironment(sdk: string, venv: string): Promise<void> {
  const python = await packages();
  await runChecked(python, ["-m", "venv", "--without-pip", venv]);
  const [version = ""] = await readdir(join(venv, "lib"));
  const site = (root: string): string => join(root, "lib", version, "site-packages");
  await writeFile(join(site(venv), "packages.pth"), `${site(dirname(dirname(python)))}\n`);
  // The build writes into its source folder, which belongs to the test.
  const flags = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation"];
  await runChecked(join(venv, "bin", "python"), ["-m", "pip", "install", ...flags, sdk]);
}

/**
 * Finds or creates the requirements of a test file's Python programs, with that SDK. A missing tool is printed as the
 * reason of a skip; a failing tool is an error.
 */
export async function findPython(sdk: GeneratedSdk): Promise<Python> {
  const { PATH = "" } = process.env;
  const venv = join(inject("packed"), `python-${process.pid}`);
  const withoutPip = (missing: string): Python => {
    console.warn(`The tests of programs in Python are skipped: ${missing}`);
    return { venv, path: PATH, missing };
  };
  if ("reason" in sdk) return withoutPip(sdk.reason);
  afterAll(() => rm(venv, { recursive: true, force: true }));
  const host = await findHost("python", inject("cli"), { progress: createProgress() });
  if ("reason" in host) return withoutPip(host.reason);
  try {
    await createEnvironment(sdk.folder, venv);
  } catch (error) {
    if (error instanceof ToolMissing) return withoutPip(error.message);
    throw error;
  }
  // The host built from published modules ignores the project's `virtualenv` and runs the Python on PATH.
  return { venv, path: [join(venv, "bin"), host.folder, PATH].join(delimiter) };
}

import { access, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterAll, inject } from "vitest";
import { lastLines, run } from "../../../scripts/child.mjs";
import { findHost } from "../../../scripts/cli-hosts.mjs";
import { withLock } from "../../../scripts/lock.mjs";
import { createProgress } from "../../../scripts/progress.mjs";
import type { GeneratedSdk } from "../../../scripts/sdk-generator.mjs";
import { repository } from "./sdk";

/** What a virtual environment for programs is made of: Pulumi's own SDK, what the generated one needs, and what builds it. */
const requirements = ["pulumi==3.250.0", "parver==0.5", "setuptools==80.9.0", "wheel==0.45.1"];

/** What runs programs in Python, or the reason why nothing does. */
export type Python =
  | {
      /** A virtual environment with the SDK. */
      venv: string;
      /** PATH for the engine's commands. */
      path: string;
    }
  | { reason: string };

async function succeed(command: string, args: string[]): Promise<string> {
  const finished = await run(command, args, { timeout: 300_000 });
  if (finished.code !== 0) throw new Error(`${command} ${args.join(" ")}: ${lastLines(finished)}`);
  return finished.stdout.trim();
}

/** A virtual environment with the packages from the registry, made once; later runs find it. */
async function packages(): Promise<string> {
  const folder = join(repository, ".serverless-compute", `python-${requirements[0]?.replace("==", "-")}`);
  const isThere = () =>
    access(join(folder, "bin", "python")).then(
      () => true,
      () => false,
    );
  if (await isThere()) return folder;
  const make = async (): Promise<void> => {
    if (await isThere()) return;
    const step = createProgress().start("Installing Pulumi's packages for Python, once");
    const draft = `${folder}.${process.pid}`;
    await mkdir(draft, { recursive: true });
    try {
      await succeed("python3", ["-m", "venv", draft]);
      await succeed(join(draft, "bin", "python"), ["-m", "pip", "install", "--quiet", ...requirements]);
      await rename(draft, folder);
    } finally {
      step.done();
      await rm(draft, { recursive: true, force: true });
    }
  };
  await withLock(`${folder}.lock`, make);
  return folder;
}

/** Makes an environment that has those packages and the SDK, as `pip install -r requirements.txt` would. */
async function makeEnvironment(sdk: string, venv: string): Promise<void> {
  const shared = await packages();
  await succeed(join(shared, "bin", "python"), ["-m", "venv", "--without-pip", venv]);
  const [version = ""] = await readdir(join(venv, "lib"));
  const site = (root: string): string => join(root, "lib", version, "site-packages");
  await writeFile(join(site(venv), "packages.pth"), `${site(shared)}\n`);
  // The build writes into the folder it builds from, which is the test's own.
  const flags = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation"];
  await succeed(join(venv, "bin", "python"), ["-m", "pip", "install", ...flags, sdk]);
}

/** Finds or makes all that a test file's programs in Python need, with that SDK; the reason why not is printed. */
export async function findPython(sdk: GeneratedSdk): Promise<Python> {
  if ("reason" in sdk) return sdk;
  const venv = join(inject("packed"), `python-${process.pid}`);
  afterAll(() => rm(venv, { recursive: true, force: true }));
  try {
    const host = await findHost("python", inject("cli"), { progress: createProgress() });
    if ("reason" in host) throw new Error(host.reason);
    await makeEnvironment(sdk.folder, venv);
    const { PATH = "" } = process.env;
    // The host that builds from published modules does not see the project's `virtualenv`: it runs the Python on PATH.
    return { venv, path: [join(venv, "bin"), host.folder, PATH].join(delimiter) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    console.warn(`The tests of programs in Python are skipped: ${reason}`);
    return { reason };
  }
}

import { execFile } from "node:child_process";
import { access, mkdir, rename, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Path of a Python that has the public SDK; empty when this machine can make none, and why. */
    python: { path: string; missing: string };
  }
}

const run = promisify(execFile);
const sdk = "runpod==1.12.0";
const folder = fileURLToPath(new URL(`../../.serverless-compute/python-${sdk.replace("==", "-")}`, import.meta.url));

/** Makes a virtual environment with the public Python SDK once; later runs find it. */
async function makeEnvironment(): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  try {
    await run("python3", ["-m", "venv", draft]);
    await run(`${draft}/bin/python`, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", sdk]);
    // A virtual environment knows its own path only in scripts that nothing here uses.
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

export async function setup(project: TestProject): Promise<void> {
  const path = `${folder}/bin/python`;
  try {
    await access(path).catch(makeEnvironment);
    project.provide("python", { path, missing: "" });
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    project.provide("python", { path: "", missing: `no Python with ${sdk} could be made here: ${why}` });
  }
}

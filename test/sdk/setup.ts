import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { ToolMissing } from "../../scripts/child.mjs";
import { pythonWith } from "../support/python-environment";

/** A Python that has the public SDK, the tool that this machine lacks to make one, or how making it failed. */
export type SdkPython = { path: string } | { missing: string } | { failure: string };

declare module "vitest" {
  interface ProvidedContext {
    python: SdkPython;
  }
}

const sdk = "runpod==1.12.0";
const folder = fileURLToPath(new URL(`../../.serverless-compute/python-${sdk.replace("==", "-")}`, import.meta.url));

/** Makes the Python with the public SDK, or says why there is none: the tests that need it tell that, the others still run. */
export async function findPython(): Promise<SdkPython> {
  try {
    return { path: await pythonWith([sdk], folder) };
  } catch (error) {
    const why = `no Python with ${sdk} could be made here: ${error instanceof Error ? error.message : error}`;
    return error instanceof ToolMissing ? { missing: why } : { failure: why };
  }
}

export async function setup(project: TestProject): Promise<void> {
  project.provide("python", await findPython());
}

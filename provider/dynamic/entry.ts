import { join } from "node:path";
import { runBundle } from "../engine/run-bundle";
import type { createProviders } from "./provider";

type Provider = ReturnType<typeof createProviders>;

const isProvider = (value: unknown): value is Provider => typeof value === "function";

function load(): Provider {
  const bundle = join(__dirname, "..", "deployment.js");
  const exported = runBundle(bundle);
  if ("provider" in exported && isProvider(exported.provider)) return exported.provider;
  throw new Error(`${bundle} is not a part of pulumi-serverless-compute`);
}

/**
 * What the text in state asks for in the process that the engine starts: the provider of a kind, with the code that is
 * installed now. Old state names it for ever, so it keeps its name and its place, `pulumi-serverless-compute/dynamic`.
 */
export const provider = load();

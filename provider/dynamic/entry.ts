import { join } from "node:path";
import { loadPart } from "../process/run-bundle";
import type { createProviders } from "./provider";

type Provider = ReturnType<typeof createProviders>;

const isProvider = (value: unknown): value is Provider => typeof value === "function";

/**
 * What the text in state asks for in the process that the engine starts: the provider of a kind, with the code that is
 * installed now. Old state names it for ever, so it keeps its name and its place, `pulumi-serverless-compute/dynamic`.
 */
export const provider = loadPart(join(__dirname, "..", "deployment.js"), "provider", isProvider);

import { join } from "node:path";
import { loadPart } from "../process/run-bundle";
import type { createProviders } from "./provider";

type Provider = ReturnType<typeof createProviders>;

const isProvider = (value: unknown): value is Provider => typeof value === "function";

/**
 * Entry point that the text in state loads in the process that the engine starts: the provider of a kind, with the installed
 * code. Old state refers to it, so its name and path, `pulumi-serverless-compute/dynamic`, must never change.
 */
export const provider = loadPart(join(__dirname, "..", "deployment.js"), "provider", isProvider);

import { join } from "node:path";
import { messageOf } from "../lifecycle/failures";
import { loadPart } from "../process/load-part";
import { VerbFailure } from "./failures";
import type { createProviders } from "./provider";

type Provider = ReturnType<typeof createProviders>;

const isProvider = (value: unknown): value is Provider => typeof value === "function";

let loaded: Provider | undefined;

/**
 * Entry point that the text in state loads in the process that the engine starts: the provider of a kind, with the installed
 * code. Old state refers to it, so its name and path, `pulumi-serverless-compute/dynamic`, must never change.
 */
export const provider: Provider = (kind) => {
  try {
    loaded ??= loadPart(join(__dirname, "..", "deployment.js"), "provider", isProvider);
    return loaded(kind);
  } catch (thrown) {
    throw new VerbFailure(`every ${kind}`, messageOf(thrown));
  }
};

import { join } from "node:path";
import { messageOf } from "../engine/error-text";
import { loadBundle } from "../engine/load-bundle";
import { sdkError } from "./failures";
import type { createProviders } from "./provider";

type Provider = ReturnType<typeof createProviders>;

const isProvider = (value: unknown): value is Provider => typeof value === "function";

let loadedProvider: Provider | undefined;

/**
 * Entry point of the provider text in state: returns the provider of a kind, with the installed code. Existing state refers to
 * its path, `pulumi-serverless-compute/dynamic`, which must never change.
 */
export const provider: Provider = (kind) => {
  try {
    loadedProvider ??= loadBundle(join(__dirname, "..", "deployment.js"), "provider", isProvider);
    return loadedProvider(kind);
  } catch (thrown) {
    throw sdkError(`every ${kind}`, messageOf(thrown));
  }
};

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, inject } from "vitest";
import { ToolMissing } from "../../../scripts/child.mjs";
import { checkGo } from "../../../scripts/cli/build.mjs";
import { type GeneratedSdk, generateSdk, type SdkLanguage } from "../../../scripts/generate/sdks.mjs";
import { createProgress } from "../../../scripts/progress.mjs";

/** Folder of the repository. */
export const repository = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * Generates a language's SDK and deletes it after the test file. A missing tool is printed as the reason of a skip; a
 * failing generator is an error, which fails the file.
 */
export async function sdkFor(language: SdkLanguage): Promise<GeneratedSdk> {
  const target = join(inject("packed"), `sdk-${language}`);
  afterAll(() => rm(target, { recursive: true, force: true }));
  const schema = join(repository, "schema.json");
  const sdk = await generateSdk(language, { schema, target, cli: inject("cli"), progress: createProgress() });
  if ("reason" in sdk) console.warn(`The tests of the SDK are skipped: ${sdk.reason}`);
  return sdk;
}

/** The reason why Go programs cannot be compiled: Go is missing or too old. A failing `go` is an error. */
export async function missingGo(): Promise<string | undefined> {
  try {
    await checkGo();
  } catch (error) {
    if (error instanceof ToolMissing) return error.message;
    throw error;
  }
  return undefined;
}

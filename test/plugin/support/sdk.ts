import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, inject } from "vitest";
import { createProgress } from "../../../scripts/progress.mjs";
import { type GeneratedSdk, generateSdk, type SdkLanguage } from "../../../scripts/sdk-generator.mjs";

/** Folder of the repository. */
export const repository = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * Generates a language's SDK for a test file, which removes it at its end. Where neither the CLI's language hosts nor Go
 * can, the reason is printed.
 */
export async function sdkFor(language: SdkLanguage): Promise<GeneratedSdk> {
  const target = join(inject("packed"), `sdk-${language}`);
  afterAll(() => rm(target, { recursive: true, force: true }));
  const schema = join(repository, "schema.json");
  const sdk = await generateSdk(language, { schema, target, cli: inject("cli"), progress: createProgress() });
  if ("reason" in sdk) console.warn(`The tests of the SDK are skipped: ${sdk.reason}`);
  return sdk;
}

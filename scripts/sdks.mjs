import { join, resolve } from "node:path";
import { findCli } from "./cli.mjs";
import { root, runScript } from "./entry.mjs";
import { createProgress } from "./progress.mjs";
import { generateSdk, sdkLanguages } from "./sdk-generator.mjs";

/** Writes the SDKs made from schema.json: `npm run sdks [-- <folder>]`. */
await runScript(async () => {
  const progress = createProgress();
  const target = resolve(process.argv[2] ?? join(root, ".serverless-compute", "sdks"));
  const cli = await findCli({ progress });
  for (const language of sdkLanguages) {
    const made = await generateSdk(language, { schema: join(root, "schema.json"), target, cli, progress });
    if ("reason" in made) throw new Error(made.reason);
    console.log(`${language}: ${made.folder}`);
  }
  return 0;
});

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createService } from "serverless-compute-local";

/** Ends without a stop of its service, as a user without privileges, whose temporary folder contains a read-only folder. */
async function main(): Promise<void> {
  if (process.getuid?.() === 0) {
    process.setgid?.(65534);
    process.setuid?.(65534);
  }
  const service = await createService({ port: 0, ephemeral: true, runtime: "none" });
  const cache = join(dirname(service.apiKeyFile), "volumes");
  mkdirSync(cache);
  writeFileSync(join(cache, "module.go"), "");
  chmodSync(cache, 0o555);
  process.exit(0);
}
void main();

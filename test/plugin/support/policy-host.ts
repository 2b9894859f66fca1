import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Pulumi's host of policy packs for a pack in TypeScript. The language host of this CLI is older than the CLI and cannot start it.
 * Therefore the pack gets another runtime, for which the engine starts an executable of that name. Returns its folder for PATH.
 */
export async function writePolicyHost(pack: string): Promise<string> {
  await writeFile(join(pack, "PulumiPolicy.yaml"), "runtime: node-pack\n");
  const bin = join(pack, "bin");
  await mkdir(bin);
  const analyzer = join(bin, "pulumi-analyzer-policy-node-pack");
  await writeFile(analyzer, '#!/bin/sh\nexec node "$PWD/node_modules/@pulumi/pulumi/cmd/run-policy-pack" "$@"\n');
  await chmod(analyzer, 0o755);
  return bin;
}

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { lastLines, run } from "../../scripts/child.mjs";
import { findCli } from "../../scripts/cli/cli.mjs";
import { repository } from "../plugin/support/sdk";

declare module "vitest" {
  export interface ProvidedContext {
    /** What `npm pack` makes of api, provider and service, in this order. */
    tarballs: string[];
  }
}

async function succeed(command: string, args: string[]): Promise<string> {
  const finished = await run(command, args, { cwd: repository, timeout: 300_000 });
  if (finished.code !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${lastLines(finished, 30)}`);
  return finished.stdout.trim();
}

/** Before the tests of the packages: compiles and packs all three, as a release does, into a folder outside the repository. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide("cli", await findCli());
  await succeed(process.execPath, [join("node_modules", "typescript", "bin", "tsc"), "-b"]);
  await succeed(process.execPath, [join("scripts", "release", "bundle-plugin.mjs")]);
  const folder = await mkdtemp(join(tmpdir(), "packed-"));
  const tarballs: string[] = [];
  for (const name of ["api", "provider", "service"]) {
    const packed = await succeed("npm", ["pack", `./${name}`, "--silent", "--pack-destination", folder]);
    tarballs.push(join(folder, packed));
  }
  project.provide("tarballs", tarballs);
  return () => rm(folder, { recursive: true, force: true });
}

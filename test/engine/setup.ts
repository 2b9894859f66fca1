import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { run } from "../../scripts/child.mjs";
import { type Cli, findCli } from "../../scripts/cli/cli.mjs";

declare module "vitest" {
  export interface ProvidedContext {
    /** Folder whose `node_modules` hold our packages as they are published; the rest is found further up. */
    packed: string;
    /** The Pulumi CLI that the tests run. */
    cli: Cli;
  }
}

const root = fileURLToPath(new URL("../..", import.meta.url));

async function succeed(command: string, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, { cwd: root, timeout: 120_000 });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  return stdout;
}

/** Unpacks what `npm pack` makes of a package, as an installation would: with the versions it depends on, where the root has others. */
async function install(folder: string, packageFolder: string, name: string): Promise<void> {
  const tarball = (
    await succeed("npm", ["pack", `./${packageFolder}`, "--silent", "--pack-destination", folder])
  ).trim();
  const target = join(folder, "node_modules", name);
  await mkdir(target, { recursive: true });
  await succeed("tar", ["-xzf", join(folder, tarball), "-C", target, "--strip-components=1"]);
  const own = join(root, packageFolder, "node_modules");
  if (existsSync(own)) await symlink(own, join(target, "node_modules"));
}

/**
 * Before the engine tests: compiles the packages that programs use and installs them from their tarballs, because a
 * linked package would look for Pulumi in its own repository. The folder is inside the repository, so that third-party
 * packages are found in the repository's own node_modules.
 */
export default async function setup(project: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const cli = await findCli();
  await succeed(process.execPath, [join("node_modules", "typescript", "bin", "tsc"), "-b", "api", "provider"]);
  const parent = join(root, ".serverless-compute");
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, "engine-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await Promise.all([
      install(folder, "api", "serverless-compute-api"),
      install(folder, "provider", "pulumi-serverless-compute"),
    ]);
  } catch (error) {
    await remove();
    throw error;
  }
  project.provide("packed", folder);
  project.provide("cli", cli);
  return remove;
}

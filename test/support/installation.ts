import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { findCli } from "../../scripts/cli/cli.mjs";
import type { Cli } from "../../scripts/cli/folder.mjs";
import { buildExecutable } from "../../scripts/release/executable.mjs";
import { runChecked } from "./run-checked";

declare module "vitest" {
  export interface ProvidedContext {
    /** Folder whose `node_modules` contain our packages as published; their dependencies are in a parent folder. */
    packed: string;
    /** The Pulumi CLI that the tests run. */
    cli: Cli;
    /** Tarballs of api, provider and service from `npm pack`, in this order. */
    tarballs: string[];
  }
}

/** The packages that a test run has built and packed. */
interface Installation {
  cli: Cli;
  folder: string;
  tarballs: string[];
}

declare global {
  /** Shared by vitest's projects, which each load this file: the first one builds for all. */
  var testInstallation: Installation | undefined;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const parent = join(root, ".serverless-compute");

/** Unpacks a tarball like an installation: with the package's own dependencies if the root has other versions. */
async function unpack(tarball: string, packageFolder: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  await runChecked("tar", ["-xzf", tarball, "-C", target, "--strip-components=1"]);
  const nestedModules = join(root, packageFolder, "node_modules");
  if (existsSync(nestedModules)) await symlink(nestedModules, join(target, "node_modules"));
}

/**
 * Compiles, bundles and packs the packages, and installs them from their tarballs: a linked package would resolve Pulumi
 * in its own repository. The folder is inside the repository, so that third-party packages resolve to its node_modules.
 */
async function install(folder: string): Promise<Installation> {
  const cli = await findCli();
  await runChecked(process.execPath, [join("node_modules", "typescript-native", "bin", "tsc"), "-b"], { cwd: root });
  await runChecked(process.execPath, [join("scripts", "release", "bundle-plugin.mjs")], { cwd: root });
  const pack = async (name: string): Promise<string> =>
    join(
      folder,
      await runChecked("npm", ["pack", `./${name}`, "--silent", "--pack-destination", folder], { cwd: root }),
    );
  const [api, provider, service] = await Promise.all([pack("api"), pack("provider"), pack("service")]);
  await unpack(api, "api", join(folder, "node_modules", "serverless-compute-api"));
  await unpack(provider, "provider", join(folder, "node_modules", "pulumi-serverless-compute"));
  return { cli, folder, tarballs: [api, provider, service] };
}

/** Global setup of the projects that use the published packages: builds them once per run. */
export default async function setUp({ provide }: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  await mkdir(parent, { recursive: true });
  const folder = globalThis.testInstallation?.folder ?? (await mkdtemp(join(parent, "engine-")));
  const remove = async (): Promise<void> => {
    globalThis.testInstallation = undefined;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    globalThis.testInstallation ??= await install(folder);
  } catch (error) {
    await remove();
    throw error;
  }
  const { cli, tarballs } = globalThis.testInstallation;
  provide("cli", cli);
  provide("packed", folder);
  provide("tarballs", tarballs);
  return remove;
}

/** Like `setup`, with the executable in place of the package's launcher, so that the plugin's tests start it. */
export async function setUpExecutable(project: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const removeAll = await setUp(project);
  const nestedModules = await mkdtemp(join(parent, "executable-"));
  const remove = async (): Promise<void> => {
    await rm(nestedModules, { recursive: true, force: true });
    await removeAll();
  };
  try {
    const { folder = "" } = globalThis.testInstallation ?? {};
    await cp(join(folder, "node_modules"), join(nestedModules, "node_modules"), { recursive: true });
    await buildExecutable(join(nestedModules, "node_modules", "pulumi-serverless-compute", "bin"));
  } catch (error) {
    await remove();
    throw error;
  }
  project.provide("packed", nestedModules);
  return remove;
}

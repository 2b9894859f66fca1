import { cp, mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { inject, onTestFinished } from "vitest";
import { run } from "../../../scripts/child.mjs";
import { type CleanRoom, createCleanRoom } from "../../packages/support/clean-room";
import { repository } from "./sdk";

/**
 * An empty folder, deleted after the test, with our packages as installed and links to their dependencies, because an
 * installation would be slower than the page.
 */
export async function environmentWithPackages(): Promise<CleanRoom> {
  const environment = await createCleanRoom(process.execPath);
  onTestFinished(environment.remove);
  const modules = join(environment.folder, "node_modules");
  await mkdir(join(modules, ".bin"), { recursive: true });
  for (const name of ["pulumi-serverless-compute", "serverless-compute-api"])
    await symlink(join(inject("packed"), "node_modules", name), join(modules, name));
  for (const name of ["@pulumi", "typescript", "@types", "vitest"])
    await symlink(join(repository, "node_modules", name), join(modules, name));
  await symlink(join(repository, "service"), join(modules, "serverless-compute-local"));
  await symlink(join(repository, "node_modules", "vitest", "vitest.mjs"), join(modules, ".bin", "vitest"));
  const command = join(repository, "service", "bin", "serverless-compute-local.js");
  await symlink(command, join(modules, ".bin", "serverless-compute-local"));
  const tool = join(inject("packed"), "node_modules", "pulumi-serverless-compute", "bin", "serverless-compute");
  await symlink(tool, join(modules, ".bin", "serverless-compute"));
  await environment.write("package.json", '{ "private": true }\n');
  return environment;
}

/** Copies the example of a README as in a clone, with a link to its provider. Returns its folder. */
export async function copyExample(readme: string, environment: CleanRoom): Promise<string> {
  const folder = join(environment.folder, dirname(readme));
  await mkdir(dirname(folder));
  const isCopied = (path: string): boolean => !/[\\/](node_modules|Pulumi\.\w+\.yaml)$/.test(path);
  await cp(join(repository, dirname(readme)), folder, { recursive: true, filter: isCopied });
  const provider = join(inject("packed"), "node_modules", "pulumi-serverless-compute");
  await symlink(provider, join(environment.folder, "provider"));
  return folder;
}

/** True if the machine has a Python that creates virtual environments. */
export const hasPython = (): Promise<boolean> =>
  run("python3", ["-m", "venv", "--help"]).then(
    ({ code }) => code === 0,
    () => false,
  );

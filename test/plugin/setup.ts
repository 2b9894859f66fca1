import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { run } from "../../scripts/child.mjs";
import installPackages from "../engine/setup";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Before the plugin's tests: compiles and bundles it, and installs the packages from their tarballs as for the engine's. */
export default async function setup(project: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  for (const args of [
    ["node_modules/typescript/bin/tsc", "-b", "api", "provider"],
    ["scripts/release/bundle-plugin.mjs"],
  ]) {
    const { code, stdout, stderr } = await run(process.execPath, args, { cwd: root, timeout: 120_000 });
    if (code !== 0) throw new Error(`node ${args.join(" ")} failed:\n${stdout}${stderr}`);
  }
  return installPackages(project);
}

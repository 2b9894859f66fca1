import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { run } from "./child.mjs";
import { root, runScript } from "./entry.mjs";
import { createProgress } from "./progress.mjs";
import { setUpWithoutCli } from "./setup.mjs";

/** Runs all checks that are not tests: types, format and lint, generated files, age of measurements. */
await runScript(async () => {
  const progress = createProgress(process.stdout);
  await setUpWithoutCli({ progress });
  const tsc = join("node_modules", "typescript-native", "bin", "tsc");
  const biome = join("node_modules", "@biomejs", "biome", "bin", "biome");
  const packages = { name: "Types of the packages", args: [tsc, "-b"] };
  const others = [
    ...projects().map((folder) => ({ name: `Types of ${folder}`, args: [tsc, "-p", folder, "--noEmit"] })),
    { name: "Format and lint", args: [biome, "check", "--no-errors-on-unmatched", "."] },
    { name: "Generated files", args: [join("scripts", "generate", "generate.mjs"), "--check"] },
    { name: "Age of the measured deployments", args: [join("scripts", "docs", "results-age.mjs")] },
  ];
  let failed = 0;
  /** @param {typeof packages} check */
  const perform = async ({ name, args }) => {
    const step = progress.start(name);
    const { code, stdout, stderr } = await run(process.execPath, args, { cwd: root });
    step.done(code === 0 ? `ok      ${name}` : `FAILED  ${name}\n${stdout}${stderr}`);
    if (code !== 0) failed += 1;
  };
  // The others read the declarations of the packages.
  await perform(packages);
  const remaining = others.values();
  const performRemaining = async () => {
    for (const check of remaining) await perform(check);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, performRemaining));
  const count = others.length + 1;
  progress.print(`${count - failed} checks passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});

/** Folders whose types are checked, besides the packages. One example requires a generated SDK and is compiled by its test. */
function projects() {
  const examples = readdirSync(join(root, "examples"))
    .filter((name) => name !== "typescript-plugin")
    .map((name) => join("examples", name));
  return ["test", "scripts", "service/console/page", ...examples].filter((folder) =>
    existsSync(join(root, folder, "tsconfig.json")),
  );
}

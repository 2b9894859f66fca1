import { join } from "node:path";
import { runInForeground } from "./child.mjs";
import { CliMissing } from "./cli/cli.mjs";
import { root, runScript } from "./entry.mjs";
import { setUp, setUpWithoutCli } from "./setup.mjs";
import { engineTests, withoutEngine } from "./test-selection.mjs";

/** Sets everything up and runs the tests: `npm test [-- --full] [-- <vitest arguments>]`. */
await runScript(async () => {
  const args = process.argv.slice(2).filter((arg) => arg !== "--full");
  const full = args.length < process.argv.length - 2;
  const engine = engineTests(args);
  if (engine === "none") await setUpWithoutCli();
  const missingTool = engine === "none" ? undefined : await findMissing();
  if (missingTool === undefined) return runVitest(args, full);
  if (engine === "asked") throw missingTool;
  const remainingArgs = withoutEngine(args, missingTool);
  const code = await runVitest(remainingArgs.args, full);
  process.stderr.write(`\n${remainingArgs.text}\n`);
  return code === 0 ? remainingArgs.code : code;
});

/** Sets everything up; returns the error if only the CLI is missing. */
async function findMissing() {
  try {
    await setUp();
  } catch (error) {
    if (error instanceof CliMissing) return error;
    throw error;
  }
  return undefined;
}

/**
 * @param {readonly string[]} args
 * @param {boolean} full
 */
function runVitest(args, full) {
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  // Reporters on the command line replace the reporters of vitest.config.mts, and this reporter must always run.
  const chosen = args.some((arg) => arg.startsWith("--reporter"));
  const secrecy = chosen ? ["--reporter=./test/support/secrecy-reporter.ts"] : [];
  return runInForeground(process.execPath, [vitest, "run", ...args, ...secrecy], {
    cwd: root,
    env: { ...process.env, ...(full ? { FULL: "1" } : {}) },
  });
}

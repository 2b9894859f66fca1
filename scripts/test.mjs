import { join } from "node:path";
import { handOver } from "./child.mjs";
import { root, runScript } from "./entry.mjs";
import { setUp, setUpWithoutCli } from "./setup.mjs";

/** Projects whose tests run a real Pulumi CLI; each has a folder of its name. */
const withEngine = ["engine", "plugin"];

/** Sets everything up and runs the tests: `npm test [-- --full] [-- <vitest arguments>]`. */
await runScript(async () => {
  const args = process.argv.slice(2).filter((arg) => arg !== "--full");
  const full = args.length < process.argv.length - 2;
  await (needsEngine(args) ? setUp() : setUpWithoutCli());
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  // Reporters that are chosen here replace those of vitest.config.mts, and this one has to hear of every run.
  const chosen = args.some((arg) => arg.startsWith("--reporter"));
  const secrecy = chosen ? ["--reporter=./test/support/secrecy-reporter.ts"] : [];
  return handOver(process.execPath, [vitest, "run", ...args, ...secrecy], {
    cwd: root,
    env: { ...process.env, ...(full ? { FULL: "1" } : {}) },
  });
});

/**
 * Whether the arguments may select a test that starts the engine; only then is a CLI worth minutes of building.
 * @param {string[]} args
 */
function needsEngine(args) {
  const projects = args.flatMap((arg, index) =>
    arg === "--project" ? [args[index + 1] ?? ""] : arg.startsWith("--project=") ? [arg.slice(10)] : [],
  );
  if (projects.length > 0) return projects.some((name) => withEngine.includes(name));
  const paths = args.filter((arg) => /^(\.\/)?test\//.test(arg));
  return (
    paths.length === 0 ||
    paths.some((path) => withEngine.some((name) => path.replace(/^\.\//, "").startsWith(`test/${name}`)))
  );
}

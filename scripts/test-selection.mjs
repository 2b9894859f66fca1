/** Projects whose tests run a real Pulumi CLI; each has a folder of its name. */
const withEngine = ["engine", "plugin", "executable", "packages"];

/**
 * Whether vitest's arguments may select a test that runs the engine; only then is a CLI worth minutes of building.
 * `asked` where they name such tests, `all` where they name none and so select everything.
 * @param {readonly string[]} args
 * @returns {"none" | "all" | "asked"}
 */
export function engineTests(args) {
  const projects = args.flatMap((arg, index) =>
    arg === "--project" ? [args[index + 1] ?? ""] : arg.startsWith("--project=") ? [arg.slice(10)] : [],
  );
  if (projects.length > 0) return projects.some((name) => withEngine.includes(name)) ? "asked" : "none";
  const paths = args.map((arg) => arg.replace(/^\.\//, "")).filter((arg) => arg.startsWith("test/"));
  if (paths.length === 0) return "all";
  return paths.some((path) => withEngine.some((name) => path.startsWith(`test/${name}`))) ? "asked" : "none";
}

/**
 * What can be done about tests on a machine without a Pulumi CLI: all others, and at their end a text that says which
 * did not run and why. Where the CLI is not absent but could not be made, that is a failure of the run.
 * @param {readonly string[]} args vitest's arguments, which select everything.
 * @param {import("./cli/cli.mjs").CliMissing} missing
 */
export function withoutEngine(args, missing) {
  const folders = withEngine.map((name) => `test/${name}`);
  return {
    args: [...args, ...folders.map((folder) => `--exclude=${folder}/**`)],
    text: `NOT RUN: the tests of ${folders.join(", ")}, which need a Pulumi CLI.
${missing.message}`,
    code: missing.isAbsent ? 0 : 1,
  };
}

/** Projects whose tests run a real Pulumi CLI. Each has a folder with the same name; some have a second project for REST v1. */
const withEngine = ["engine", "plugin", "executable", "packages", "kubernetes"];

/** The other projects. */
const otherProjects = [
  "unit",
  "processes",
  "conformance",
  "sdk",
  "faults",
  "faults-v2",
  "faults-stripped",
  "faults-v2-stripped",
  "durability",
  "console",
  "docker",
];

/**
 * Classifies vitest's arguments by whether they select engine tests, which justify building a CLI: `asked` if they name
 * such tests, `all` if they select everything.
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
 * Handles tests on a machine without a Pulumi CLI: the others run, followed by a text about the tests that did not and
 * the reason. If the CLI is not absent but could not be installed, the run fails.
 * @param {readonly string[]} args vitest's arguments, which select everything.
 * @param {import("./cli/cli.mjs").CliMissing} missing
 */
export function withoutEngine(args, missing) {
  const folders = withEngine.map((name) => `test/${name}`);
  return {
    args: [...args, ...otherProjects.map((name) => `--project=${name}`)],
    text: `NOT RUN: the tests of ${folders.join(", ")}, which require a Pulumi CLI.
${missing.message}`,
    code: missing.isAbsent ? 0 : 1,
  };
}

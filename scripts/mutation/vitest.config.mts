import base from "../../vitest.config.mts";

/** Projects to run, separated by commas: `vitest` takes them as arguments, Stryker's runner cannot. */
const names = process.env["MUTATION_PROJECTS"]?.split(",") ?? [];

/** Folder whose mutants run. */
const folder = process.env["MUTATION_FOLDER"] ?? "";

/**
 * Tests of the repository's text, which mutation changes, tests that take minutes or start processes, and a test that requires
 * the stack size of a process instead of a thread.
 */
const excluded = [
  "test/*.test.ts",
  "test/faults/{full-accounts,secret-scan,rollout-*}.test.ts",
  "test/unit/service/resources/graphql-depth.test.ts",
  // They use the package, but test others.
  ...(folder.startsWith("service/") ? ["test/unit/{api,provider,scripts}/**"] : []),
  ...(folder.startsWith("provider/") ? ["test/unit/{api,service,scripts}/**"] : []),
];

/** Projects of vitest.config.mts with per-test coverage by Stryker. */
export default {
  ...base,
  test: {
    ...base.test,
    reporters: [],
    projects: base.test?.projects?.flatMap((project) =>
      typeof project === "object" && "test" in project && names.includes(String(project.test?.name))
        ? [
            {
              ...project,
              test: {
                ...project.test,
                // A speed-dependent failure must neither end the run nor count as a caught mutant.
                retry: 1,
                maxWorkers: base.test?.maxWorkers,
                // Waits that end early also end the tests of mutants early.
                expect: { poll: { timeout: 10_000, interval: 20 } },
                exclude: [...(project.test?.exclude ?? base.test?.exclude ?? []), ...excluded],
              },
            },
          ]
        : [],
    ),
  },
};

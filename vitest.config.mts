import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { readReadings, tagPrefix } from "./test/conformance/readings.mjs";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Tests read the sources, not the build: the package names lead to the TypeScript files. */
const alias = [
  { find: /^serverless-compute-api$/, replacement: here("api/index.ts") },
  { find: /^serverless-compute-api\/address$/, replacement: here("api/address.ts") },
  { find: /^serverless-compute-api\/clock$/, replacement: here("api/clock.ts") },
  { find: /^serverless-compute-api\/limits$/, replacement: here("api/shapes/limits.ts") },
  { find: /^serverless-compute-api\/redaction$/, replacement: here("api/redaction.ts") },
  { find: /^serverless-compute-api\/shapes$/, replacement: here("api/shapes/index.ts") },
  { find: /^pulumi-serverless-compute$/, replacement: here("provider/index.ts") },
  { find: /^serverless-compute-local$/, replacement: here("service/index.ts") },
];

/** The suites of the provider that run in dialect v2, too. */
const faultsInV2 = [
  ...["requests", "drift", "inputs", "interrupted-creates", "secrecy", "cancellation", "time-outs"],
  ...["schedules", "previews", "two-projects", "capped-lists", "unreadable-objects", "service-additions"],
  ...["adopt-existing", "untouched-fields", "messages", "rollout-schedules", "rollout-requests", "rollout-creates"],
];

/**
 * Of the suites with a real engine, which take up to a minute each, those that go through every verb of every kind and
 * those in which REST v2 behaves differently; the others with FULL=1. docs/drift-and-faults.md says of each suite that is
 * in none of the lists why.
 */
const isFull = Boolean(process.env["FULL"]);
const waysInV2 = [
  ...["lifecycle", "drift"],
  ...(isFull
    ? [
        ...["fault-schedules", "killed-engine", "parallel", "two-projects", "unfinished", "secrecy", "cancellation"],
        ...["bad-input", "preview-outputs", "replacements", "look-ups", "job-invoke", "faults", "kept-names"],
        ...["key-rotation", "proxies", "template-release", "template-replacement", "rollouts", "verify"],
      ]
    : []),
];
/** Of the suites that only one of the ways has. */
const ofPluginInV2 = [
  "import",
  ...(isFull
    ? [
        ...["accounts", "attach", "detailed-diffs", "examples", "move", "move-accounts", "options", "private-ca"],
        ...["settings", "yaml", "yaml-accounts", "yaml-previews", "sdk-python", "sdk-typescript"],
      ]
    : []),
];
const ofDynamicInV2 = isFull ? ["invoke-job"] : [];

/**
 * The suites of the plugin that its executable has to hold, too: of every run, those about what a runtime does differently;
 * with FULL=1 all but those about the Node entry's own files (start, archive, release) and about programs and SDKs.
 */
const onExecutable = [
  ...["private-ca", "proxies"],
  ...(isFull
    ? [
        ...[
          "accounts",
          "attach",
          "bad-input",
          "cancellation",
          "detailed-diffs",
          "dialects",
          "drift",
          "fault-schedules",
        ],
        ...[
          "faults",
          "import",
          "job-invoke",
          "kept-names",
          "key-rotation",
          "killed-engine",
          "lifecycle",
          "look-ups",
          "options",
        ],
        ...["parallel", "preview-outputs", "replacements", "secrecy", "settings", "template-release"],
        ...["template-replacement", "two-projects", "unfinished", "yaml", "yaml-accounts", "yaml-previews"],
      ]
    : []),
];

/** A project's suites, by the names of their files, once more in dialect v2: the second column of the same table. */
const inV2 = (folder: string, names: string[], test: object) => ({
  extends: true as const,
  test: {
    name: `${folder}-v2`,
    include: names.map((name) => `test/${folder}/${name}.test.ts`),
    env: { TEST_DIALECT: "v2" },
    ...test,
  },
});

export default defineConfig({
  resolve: { alias },
  test: {
    reporters: ["default", here("test/support/secrecy-reporter.ts")],
    // Many tests start processes of their own, so more workers than this only wait for each other.
    maxWorkers: 2,
    // How long a busy machine may take; a test that is in time waits no longer than it has to.
    testTimeout: 30_000,
    expect: { poll: { timeout: 15_000, interval: 20 } },
    // Only the tests of test/docker use a Docker Engine, and they name one: no other may start a container where one runs.
    env: { DOCKER_HOST: "unix:///nowhere/docker.sock" },
    // A test names the reading of the interface that it rests on; a tag without its row in docs/service.md refuses the run.
    tags: readReadings().map(({ name, reading }) => ({ name: `${tagPrefix}${name}`, description: reading })),
    projects: [
      { extends: true, test: { name: "unit", include: ["test/unit/**/*.test.ts", "test/*.test.ts"] } },
      {
        extends: true,
        test: { name: "conformance", include: ["test/conformance/**/*.test.ts"], hookTimeout: 30_000 },
      },
      {
        extends: true,
        test: {
          name: "sdk",
          include: ["test/sdk/**/*.test.ts"],
          globalSetup: ["test/sdk/setup.ts"],
          testTimeout: 120_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: "faults",
          include: ["test/faults/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 30_000,
        },
      },
      inV2("faults", faultsInV2, { testTimeout: 60_000, hookTimeout: 30_000 }),
      inV2("engine", [...waysInV2, ...ofDynamicInV2], {
        globalSetup: ["test/engine/setup.ts"],
        testTimeout: 180_000,
        hookTimeout: 180_000,
      }),
      inV2("plugin", [...waysInV2, ...ofPluginInV2], {
        globalSetup: ["test/plugin/setup.ts"],
        testTimeout: 180_000,
        hookTimeout: 180_000,
      }),
      {
        extends: true,
        test: {
          name: "durability",
          include: ["test/durability/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: "console",
          include: ["test/console/**/*.test.ts"],
          globalSetup: ["test/console/setup.ts"],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "docker",
          include: ["test/docker/**/*.test.ts"],
          globalSetup: ["test/engine/setup.ts", "test/docker/setup.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: "engine",
          include: ["test/engine/**/*.test.ts"],
          globalSetup: ["test/engine/setup.ts"],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: "plugin",
          include: ["test/plugin/**/*.test.ts"],
          globalSetup: ["test/plugin/setup.ts"],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: "executable",
          include: ["test/executable/**/*.test.ts", ...onExecutable.map((name) => `test/plugin/${name}.test.ts`)],
          globalSetup: ["test/executable/setup.ts"],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: "packages",
          include: ["test/packages/**/*.test.ts"],
          globalSetup: ["test/packages/setup.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});

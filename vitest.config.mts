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
 * Suites with a real engine take up to a minute each. All of them run in dialect v2, the default; those that go through every
 * verb of every kind also run in v1, and the others with FULL=1. docs/drift-and-faults.md gives the reason for each suite
 * that is in none of the lists.
 */
const isFull = Boolean(process.env["FULL"]);
const waysInV1 = [
  ...["lifecycle", "drift", "template-release"],
  ...(isFull
    ? [
        ...["fault-schedules", "killed-engine", "parallel", "two-projects", "unfinished", "secrecy", "cancellation"],
        ...["bad-input", "preview-outputs", "replacements", "look-ups", "job-invoke", "faults", "kept-names"],
        ...["key-rotation", "other-account", "proxies", "recover", "template-replacement", "rollouts", "verify"],
      ]
    : []),
];
/** Of the suites that only one of the ways has. */
const ofPluginInV1 = [
  ...["import", "upgrade"],
  ...(isFull
    ? [
        ...["accounts", "attach", "detailed-diffs", "examples", "move", "move-accounts", "options", "other-service"],
        ...["private-ca"],
        ...["settings", "yaml", "yaml-accounts", "yaml-previews", "sdk-python", "sdk-typescript"],
      ]
    : []),
];
const ofDynamicInV1 = isFull ? ["custom-timeouts", "invoke-job"] : [];

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
          "other-account",
          "other-service",
        ],
        ...["parallel", "preview-outputs", "replacements", "secrecy", "settings"],
        ...["template-replacement", "two-projects", "unfinished", "yaml", "yaml-accounts", "yaml-previews"],
      ]
    : []),
];

/** Endpoints of REST v2 have copies of their template, so that only those of REST v1 hold it until its release. */
const boundTemplates = "template-release";

/** Environment that selects dialect v2 in test/support/dialect.ts. */
const v2 = { TEST_DIALECT: "v2" };

/** A project's suites, by the names of their files, in another dialect: the second column of the same table. */
const column = (name: string, folder: string, names: string[], test: object) => ({
  extends: true as const,
  test: { name, include: names.map((one) => `test/${folder}/${one}.test.ts`), ...test },
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
      column("faults-v2", "faults", faultsInV2, { env: v2, testTimeout: 60_000, hookTimeout: 30_000 }),
      column("engine-v1", "engine", [...waysInV1, ...ofDynamicInV1], {
        globalSetup: ["test/engine/setup.ts"],
        testTimeout: 180_000,
        hookTimeout: 180_000,
      }),
      column("plugin-v1", "plugin", [...waysInV1, ...ofPluginInV1], {
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
          env: v2,
          include: [`test/engine/**/!(${boundTemplates}).test.ts`],
          globalSetup: ["test/engine/setup.ts"],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: "plugin",
          env: v2,
          // `upgrade` is about state of version 0.1.0, which knew REST v1 only.
          include: [`test/plugin/**/!(upgrade|${boundTemplates}).test.ts`],
          globalSetup: ["test/plugin/setup.ts"],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: "executable",
          env: v2,
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

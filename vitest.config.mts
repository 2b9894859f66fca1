import { existsSync, statfsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { readReadings, tagPrefix } from "./test/conformance/readings.mjs";
import { fullOnly } from "./test/full-only.mjs";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Tests read the sources, not the build: the package names lead to the TypeScript files. */
const alias = [
  { find: /^serverless-compute-api$/, replacement: here("api/index.ts") },
  { find: /^serverless-compute-api\/address$/, replacement: here("api/address.ts") },
  { find: /^serverless-compute-api\/catalog$/, replacement: here("api/catalog.ts") },
  { find: /^serverless-compute-api\/clock$/, replacement: here("api/clock.ts") },
  { find: /^serverless-compute-api\/folders$/, replacement: here("api/folders.ts") },
  { find: /^serverless-compute-api\/job-commands$/, replacement: here("api/job-commands.ts") },
  { find: /^serverless-compute-api\/json-text$/, replacement: here("api/json-text.ts") },
  { find: /^serverless-compute-api\/limits$/, replacement: here("api/shapes/limits.ts") },
  { find: /^serverless-compute-api\/redaction$/, replacement: here("api/redaction.ts") },
  { find: /^serverless-compute-api\/shapes$/, replacement: here("api/shapes/index.ts") },
  { find: /^serverless-compute-api\/spelling$/, replacement: here("api/spelling.ts") },
  { find: /^pulumi-serverless-compute$/, replacement: here("provider/index.ts") },
  { find: /^serverless-compute-local$/, replacement: here("service/index.ts") },
];

/** True for `npm run test:full`, which runs everything. */
const isFull = Boolean(process.env["FULL"]);

/** Suites of `test/faults` whose rules do not depend on the dialect: REST v2, and in full runs also v1. */
const faultsOfV2 = [
  "adopt-existing",
  "adopted-inputs",
  "cancellation",
  "capped-lists",
  "interrupted-creates",
  "preflight",
  "rollout-schedules",
  "schedules",
  "timeouts",
  "two-backends",
  "unreadable-objects",
];

/** Suites of `test/faults` whose rules depend on the dialect: both in every run. */
const faultsOfBoth = [
  "gpu-pools",
  "inputs",
  "messages",
  "repeated-creates",
  "requests",
  "rollback-model",
  "rollback-states",
  "secrecy",
  "unconfirmed-updates",
];

/** Suites of `test/faults` with responses that contain only what the contracts describe; in full runs also with whole ones. */
const faultsStripped = ["drift", "dialects"];

/** All suites of `test/faults` that can run with REST v2. */
const faultsInV2 = [...faultsOfV2, ...faultsOfBoth, "drift"];
/** Suites of `test/faults` that run with REST v1. */
const faultsOfV1 = isFull ? "**/*" : `**/!(${[...faultsOfV2, ...faultsStripped].join("|")})`;

/** Unit tests that start processes: workers of the local service, its command line, scripts. */
const withProcesses = [
  "../documentation-types",
  "api/local-jobs",
  "scripts/**/*",
  "support/**/*",
  "service/cli/**/*",
  ...[
    "crashes",
    "file-limit",
    "forwarding",
    "handlers",
    "isolation",
    "load-balancer",
    "load-balancer-rollouts",
    "load-balancer-upgrades",
    "load-failures",
    "pod-credentials",
    "process",
    "random-bytes",
    "reaper",
    "rolling",
    "sdk-failures",
    "silent-engine",
    "source-watch",
    "stopping",
    "waiting-jobs",
  ].map((name) => `service/workers/${name}`),
  "provider/cli/jobs",
  "provider/cli/job-logs",
  "provider/dynamic/cancellation",
  "provider/plugin/launcher",
  "provider/plugin/version-lines",
  "provider/resources/injected-faults",
  "provider/resources/real-jobs",
  "provider/resources/verify",
  "provider/resources/requests",
  "service/faults/*",
  "service/api/scrape",
  "service/queue/openai",
  "service/queue/webhooks-tls",
].map((name) => `test/unit/${name}.test.ts`);

/** Suites with a real engine that also run in dialect v1, in full runs. docs/testing.md gives the reasons for the others. */
const ofPluginInV1 = [
  "ways",
  "ways-long",
  "import",
  "attach",
  "examples",
  "move",
  "private-ca",
  "yaml",
  "yaml-accounts",
  "sdk-python",
  "sdk-typescript",
];
const ofDynamicInV1 = ["ways", "ways-long", "invoke-job"];

/** Suites of the plugin that its executable passes, too: in each run those about what depends on the runtime. */
const onExecutable = [
  "private-ca",
  ...(isFull ? ["ways", "ways-long", "attach", "import", "yaml", "yaml-accounts"] : []),
];

/** Builds and packs the packages, once for all projects. */
const installation = "test/support/installation.ts";

/** Environment that selects dialect v2 in test/support/dialect.ts. */
const v2 = { TEST_DIALECT: "v2" };

/** Environment with which recording proxies remove the response fields that the contracts do not describe. */
const stripped = { TEST_RESPONSES: "stripped" };

/** Limits of suites with a real engine. How long a busy machine may take; a test waits no longer than it has to. */
const engineLimits = { testTimeout: 180_000, hookTimeout: 180_000 };

/** Environment with which tests write their files into memory if there is 1 GB: each start of a service waits several times for a disk. */
function inMemory(folder = "/dev/shm"): Record<string, string> {
  if (!existsSync(folder)) return {};
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize > 1e9 ? { TMPDIR: folder } : {};
}

/** A worker loads a module once for all files of a project: otherwise a third of the time would go into loading. */
const shared = { isolate: false };

/** A project of the suites of these names in a folder. */
const suites = (name: string, folder: string, names: string[], test: object) => ({
  extends: true as const,
  test: { name, include: names.map((one) => `test/${folder}/${one}.test.ts`), ...test },
});

export default defineConfig({
  resolve: { alias },
  test: {
    reporters: ["default", here("test/support/secrecy-reporter.ts")],
    exclude: isFull ? configDefaults.exclude : [...configDefaults.exclude, ...fullOnly],
    // Many tests start processes of their own, so more workers than this only wait for each other.
    maxWorkers: 3,
    setupFiles: [here("test/support/file-setup.ts")],
    // How long a busy machine may take; a test that is in time waits no longer than it has to.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
    // Only the tests of test/docker use a Docker Engine, and they name one: no other may start a container where one runs.
    env: { DOCKER_HOST: "unix:///nowhere/docker.sock" },
    // A test names the reading of the interface that it rests on; a tag without its row in docs/service-api.md refuses the run.
    tags: readReadings().map(({ name, reading }) => ({ name: `${tagPrefix}${name}`, description: reading })),
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts", "test/*.test.ts"],
          exclude: [...configDefaults.exclude, ...withProcesses],
          setupFiles: ["test/support/no-processes.ts"],
          env: inMemory(),
          ...shared,
          // Threads take an eighth less processor time than processes, and these tests change nothing that threads share.
          pool: "threads",
          // They start no processes. On a busy machine, more workers get a larger share of its processors, but each loads all modules.
          maxWorkers: 4,
          // vitest requires a group of its own for another number of workers. It skips the files of a negative one.
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: "processes", include: withProcesses, ...shared } },
      suites("conformance", "conformance", ["**/*"], shared),
      suites("sdk", "sdk", ["**/*"], { testTimeout: 120_000 }),
      suites("faults", "faults", [faultsOfV1], shared),
      suites("faults-v2", "faults", isFull ? faultsInV2 : [...faultsOfV2, ...faultsOfBoth], { env: v2, ...shared }),
      suites("faults-stripped", "faults", isFull ? ["**/*"] : faultsStripped, { env: stripped, ...shared }),
      suites("faults-v2-stripped", "faults", isFull ? faultsInV2 : ["drift"], {
        env: { ...v2, ...stripped },
        ...shared,
      }),
      suites("durability", "durability", ["**/*"], { testTimeout: 120_000 }),
      suites("console", "console", ["**/*"], { globalSetup: ["test/console/setup.ts"], testTimeout: 120_000 }),
      suites("docker", "docker", ["**/*"], {
        env: v2,
        globalSetup: [...(isFull ? [installation] : []), "test/docker/setup.ts"],
        testTimeout: 120_000,
        hookTimeout: 120_000,
      }),
      suites("kubernetes", "kubernetes", ["**/*"], {
        env: v2,
        globalSetup: [...(isFull ? [installation] : []), "test/kubernetes/setup.ts"],
        // One file after another, because some kill the API server of the cluster that all share.
        maxWorkers: 1,
        testTimeout: 180_000,
        hookTimeout: 180_000,
      }),
      suites("engine", "engine", ["**/*"], { env: v2, globalSetup: [installation], ...engineLimits }),
      suites("plugin", "plugin", isFull ? ["**/*"] : ["**/!(private-ca)"], {
        env: v2,
        globalSetup: [installation],
        ...engineLimits,
        ...shared,
      }),
      ...(isFull
        ? [
            suites("engine-v1", "engine", ofDynamicInV1, { globalSetup: [installation], ...engineLimits }),
            suites("plugin-v1", "plugin", ofPluginInV1, { globalSetup: [installation], ...engineLimits }),
          ]
        : []),
      {
        extends: true,
        test: {
          name: "executable",
          env: v2,
          include: ["test/executable/**/*.test.ts", ...onExecutable.map((name) => `test/plugin/${name}.test.ts`)],
          globalSetup: ["test/executable/setup.ts"],
          ...engineLimits,
        },
      },
      suites("packages", "packages", ["**/*"], {
        globalSetup: [installation],
        testTimeout: 300_000,
        hookTimeout: 300_000,
      }),
    ],
  },
});

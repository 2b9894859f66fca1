/** Test files that only `npm run test:full` runs. docs/testing.md names the tests of `npm test` that hold the same rules. */
export const fullOnly = [
  // Rules that tests in process hold, once more through an engine.
  ...[
    "engine/ways-long",
    "engine/preview-outputs",
    "engine/program-stacks",
    "engine/invoke-job",
    "engine/two-backends",
  ],
  ...["plugin/ways-long", "plugin/attach"],
  ...["plugin/schema-cache", "plugin/archive", "plugin/providertest"],
  // Programs in other languages, examples and guides.
  ...["plugin/yaml-accounts", "plugin/yaml-previews", "plugin/examples", "plugin/examples-ladder", "plugin/guides"],
  ...[
    "plugin/safe-rollout",
    "plugin/package-add",
    "plugin/import-account-large",
    "plugin/example-types",
    "plugin/sdk-go",
    "plugin/sdk-python",
  ],
  ...["plugin/sdk-typescript"],
  // Packages under several versions of Node, the release, the pages of Start.
  ...["packages/clean-room", "packages/release", "packages/start-pages"],
  // Clients that take minutes to build or install.
  ...["sdk/dstack", "sdk/pulumi-provider", "sdk/runpodctl"],
  // Containers and images other than those of test/docker/container-workers and load-balancer.
  ...["docker/broken-containers", "docker/example", "docker/isolation", "docker/problem-reports", "docker/prune"],
  ...["docker/python-worker", "docker/quickstart", "docker/service-image", "docker/service-kills"],
].map((name) => `test/${name}.test.ts`);

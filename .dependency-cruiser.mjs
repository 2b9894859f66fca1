/** The rules of docs/architecture.md about imports, types included. test/architecture.test.ts applies them. */

const packages = "api|provider|service";
const code = `${packages}|examples|test|scripts|bench`;
/** Packages are not resolved, so that their names are also the paths of rules; ours are found by their links in node_modules. */
const named = (/** @type {string} */ name) => `^(node_modules/)?${name}(/|$)`;
const ours = named("(serverless-compute-api|pulumi-serverless-compute|serverless-compute-local)");
const pulumi = named("@pulumi");
const root = "^node_modules/pulumi-serverless-compute/index\\.ts$";
const estimates = "^pulumi-serverless-compute/estimate$";

/** Folders of the service, the highest first. */
const serviceLayers = ["cli", "seed", "console", "api", "workers", "metrics", "queue", "resources", "faults", "store"];
/** Folders that both provider variants share, the highest first. */
const providerLayers = [
  "index",
  "bundle",
  "dynamic|plugin",
  "functions",
  "resources",
  "framework",
  "settings",
  "engine",
];

/** @typedef {string | string[]} Paths */
/**
 * A rule with the sentence that describes it.
 * @param {string} name
 * @param {{ path: Paths, pathNot?: Paths }} from
 * @param {{ path: Paths, pathNot?: Paths }} to
 */
const rule = (name, from, to) => ({ name, severity: /** @type {const} */ ("error"), from, to });

/**
 * Rules by which the folders of a package import downwards only.
 * @param {string} name
 * @param {string} parent
 * @param {string[]} layers
 */
const downwards = (name, parent, layers) =>
  layers
    .slice(1)
    .map((layer, index) =>
      rule(
        name,
        { path: `^${parent}/(${layer})(/|\\.ts$)` },
        { path: `^${parent}/(${layers.slice(0, index + 1).join("|")})(/|\\.ts$)` },
      ),
    );

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    rule("api imports nothing else of ours", { path: "^api/" }, { path: ours }),
    rule(
      "service imports only shapes, catalog, clock, folders, JSON text and the commands about jobs of api, and nothing of provider",
      { path: "^service/" },
      {
        path: ours,
        pathNot:
          "^node_modules/serverless-compute-api/((shapes|catalog)/index|catalog|clock|folders|json-text|job-commands)\\.ts$",
      },
    ),
    ...downwards(
      "folders of the service import downwards only: cli, seed, console, api, workers, metrics, queue, resources, faults, store",
      "service",
      serviceLayers,
    ),
    rule(
      "workers outside of runtimes import no process, container or pod",
      { path: "^service/workers/", pathNot: "^service/workers/runtimes/" },
      { path: "^service/workers/runtimes/(process|container|pod)/" },
    ),
    rule(
      "only cli imports the settings and the wiring of the service",
      { path: `^service/(${serviceLayers.slice(1).join("|")})/` },
      { path: "^service/(index|data-plane|settings)\\.ts$" },
    ),
    rule(
      "only the console imports its parts, because a service may run without it",
      { path: "^service/", pathNot: "^service/console/" },
      { path: "^service/console/", pathNot: "^service/console/index\\.ts$" },
    ),
    rule("provider imports nothing of service", { path: "^provider/" }, { path: named("serverless-compute-local") }),
    rule(
      "packages reach each other by name, never by a path",
      { path: `^(${packages})/` },
      { path: ["^\\.\\./", `^(${code})(/|\\.ts$)`], pathNot: "^$1/" },
    ),
    rule("api and service know no Pulumi", { path: "^(api|service)/" }, { path: pulumi }),
    rule(
      "the framework and the engine know no Pulumi package",
      { path: "^provider/(framework|engine)/" },
      { path: pulumi },
    ),
    rule(
      "of a resource, only its class and what it registers know Pulumi",
      { path: "^provider/resources/", pathNot: "/(resource|resource-arguments)\\.ts$" },
      { path: pulumi },
    ),
    ...downwards(
      "folders of the provider import downwards only: bundle, dynamic and plugin, functions, resources, framework, settings, engine",
      "provider",
      providerLayers,
    ),
    rule("the dynamic way does not import the plugin", { path: "^provider/dynamic/" }, { path: "^provider/plugin/" }),
    rule("the plugin does not import the dynamic way", { path: "^provider/plugin/" }, { path: "^provider/dynamic/" }),
    rule(
      "the command line imports neither way into Pulumi, and no Pulumi",
      { path: "^provider/cli/" },
      { path: [pulumi, "^provider/(dynamic|plugin|bundle|index)(/|\\.ts$)"] },
    ),
    rule(
      "nothing of the provider imports its command line",
      { path: "^provider/", pathNot: "^provider/cli/" },
      { path: "^provider/cli/" },
    ),
    rule(
      "only the command lines import commander",
      { path: `^(${packages})/`, pathNot: "^(provider|service)/cli/" },
      { path: named("commander") },
    ),
    rule(
      "nothing of the provider imports what is bundled",
      { path: "^provider/", pathNot: "^provider/bundle/" },
      { path: "^provider/bundle/" },
    ),
    rule(
      "examples import only the package root and its estimates, and their tests the local service",
      { path: "^examples/", pathNot: "\\.test\\.ts$" },
      {
        path: [ours, "^\\.\\./", `^(${code})(/|\\.ts$)`],
        pathNot: ["^examples/", root, estimates],
      },
    ),
    rule(
      "examples import only the package root and its estimates, and their tests the local service",
      { path: "^examples/.*\\.test\\.ts$" },
      {
        path: [ours, "^\\.\\./", `^(${code})(/|\\.ts$)`],
        pathNot: ["^examples/", root, estimates, "^node_modules/serverless-compute-local/index\\.ts$"],
      },
    ),
  ],
  options: {
    tsPreCompilationDeps: true,
    preserveSymlinks: true,
    exoticRequireStrings: [
      "require.resolve",
      "createRequire(import.meta.url)",
      "createRequire(import.meta.url).resolve",
    ],
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist|fixtures|coverage)/" },
    enhancedResolveOptions: { exportsFields: [], mainFields: [], extensions: [".ts", ".mts", ".mjs", ".js"] },
  },
};

import { longestChain, importTarget as target } from "./import-graph";
import type { Source } from "./sources";

/** A rule of the architecture: a sentence, and its violations in the sources. */
interface Rule {
  description: string;
  /** One line per violation: file and fault. */
  violations(sources: Source[]): string[];
}

const packages = ["api", "provider", "service"];
const ownPackages = /^(serverless-compute-api|pulumi-serverless-compute|serverless-compute-local)(\/|$)/;
const pulumiPackages = /^@pulumi\//;
const isIn = (source: Source, ...folders: string[]): boolean =>
  folders.some((folder) => source.path === folder || source.path.startsWith(`${folder}/`));

/** Violations of a rule about the imports of some files, including imports of types. */
const badImports =
  (appliesTo: (source: Source) => boolean, forbidden: (target: string) => boolean) =>
  (sources: Source[]): string[] =>
    sources
      .filter(appliesTo)
      .flatMap((source) =>
        source.imports
          .filter((specifier) => forbidden(target(source, specifier)))
          .map((specifier) => `${source.path} imports ${specifier}`),
      );

const isUnder =
  (folder: string) =>
  (path: string): boolean =>
    path === folder || path.startsWith(`${folder}/`);

/** Folders of the service, the highest first. */
const serviceLayers = ["cli", "seed", "console", "api", "workers", "queue", "resources", "faults", "store"];

/** Folders that both provider variants share, the highest first. */
const providerLayers = [
  ["index"],
  ["bundle"],
  ["dynamic", "plugin"],
  ["functions"],
  ["resources"],
  ["framework"],
  ["settings"],
  ["engine"],
];

/** Files of the error classes. */
const errorFiles: Record<string, string> = {
  ApiError: "api/errors.ts",
  JobFailed: "api/job-waits.ts",
  JsonTextError: "api/json-text.ts",
  CallFailure: "provider/engine/grpc.ts",
  UserError: "provider/framework/errors.ts",
  ResourceInitError: "provider/framework/errors.ts",
};

/** The rules that docs/architecture.md describes, in the order of its picture. */
export const rules: Rule[] = [
  {
    description: "api imports nothing else of ours",
    violations: badImports(
      (source) => isIn(source, "api"),
      (target) => ownPackages.test(target),
    ),
  },
  {
    description:
      "service imports only shapes, catalog, clock, JSON text and the commands about jobs of api, and nothing of provider",
    violations: badImports(
      (source) => isIn(source, "service"),
      (target) =>
        ownPackages.test(target) &&
        !/^serverless-compute-api\/(shapes|catalog|clock|json-text|job-commands)$/.test(target),
    ),
  },
  {
    description:
      "folders of the service import downwards only: cli, seed, console, api, workers, queue, resources, faults, store",
    violations: (sources) =>
      serviceLayers.flatMap((folder, layer) =>
        badImports(
          (source) => isIn(source, `service/${folder}`),
          (target) => serviceLayers.slice(0, layer).some((upperFolder) => isUnder(`service/${upperFolder}`)(target)),
        )(sources),
      ),
  },
  {
    description: "workers outside of runtimes import no process, container or pod",
    violations: badImports(
      (source) => isIn(source, "service/workers") && !isIn(source, "service/workers/runtimes"),
      (target) => /^service\/workers\/runtimes\/(process|container|pod)\//.test(target),
    ),
  },
  {
    description: "the service outside of runtimes does not depend on the name of the runtime",
    violations: (sources) =>
      sources
        .filter((source) => isIn(source, "service") && !isIn(source, "service/workers/runtimes"))
        .flatMap(({ path, runtimeTests }) => runtimeTests.map((line) => `${path}:${line} tests the runtime`)),
  },
  {
    description: "only cli imports the settings and the wiring of the service",
    violations: badImports(
      (source) => serviceLayers.slice(1).some((folder) => isIn(source, `service/${folder}`)),
      (target) => /^service\/(index|job-path|settings)(\.ts)?$/.test(target),
    ),
  },
  {
    description: "only the console imports its parts, because a service may run without it",
    violations: badImports(
      (source) => isIn(source, "service") && !isIn(source, "service/console"),
      (target) => isUnder("service/console")(target) && !/^service\/console(\/index)?(\.[jt]s)?$/.test(target),
    ),
  },
  {
    description: "provider imports nothing of service",
    violations: badImports(
      (source) => isIn(source, "provider"),
      (target) => /^serverless-compute-local(\/|$)/.test(target),
    ),
  },
  {
    description: "packages reach each other by name, never by a path",
    violations: (sources) =>
      packages.flatMap((name) =>
        badImports(
          (source) => isIn(source, name),
          (target) => target.startsWith("../") || (isCodePath(target) && !isUnder(name)(target)),
        )(sources),
      ),
  },
  {
    description: "api and service know no Pulumi",
    violations: badImports(
      (source) => isIn(source, "api", "service"),
      (target) => pulumiPackages.test(target),
    ),
  },
  {
    description: "the framework and the engine know no Pulumi package",
    violations: badImports(
      (source) => isIn(source, "provider/framework", "provider/engine"),
      (target) => pulumiPackages.test(target),
    ),
  },
  {
    description: "of a resource, only its class and what it registers know Pulumi",
    violations: badImports(
      (source) => isIn(source, "provider/resources") && !/\/(resource|resource-arguments)\.ts$/.test(source.path),
      (target) => pulumiPackages.test(target),
    ),
  },
  {
    description:
      "folders of the provider import downwards only: bundle, dynamic and plugin, functions, resources, framework, settings, engine",
    violations: (sources) =>
      providerLayers.flatMap((folders, layer) =>
        badImports(
          (source) => isIn(source, ...folders.map((folder) => `provider/${folder}`)),
          (target) =>
            providerLayers
              .slice(0, layer)
              .flat()
              .some((upperFolder) => isUnder(`provider/${upperFolder}`)(target)),
        )(sources),
      ),
  },
  {
    description: "the dynamic way does not import the plugin",
    violations: badImports((source) => isIn(source, "provider/dynamic"), isUnder("provider/plugin")),
  },
  {
    description: "the plugin does not import the dynamic way",
    violations: badImports((source) => isIn(source, "provider/plugin"), isUnder("provider/dynamic")),
  },
  {
    description: "the command line imports neither way into Pulumi, and no Pulumi",
    violations: badImports(
      (source) => isIn(source, "provider/cli"),
      (target) =>
        pulumiPackages.test(target) ||
        ["dynamic", "plugin", "bundle", "index"].some((name) => isUnder(`provider/${name}`)(target)),
    ),
  },
  {
    description: "nothing of the provider imports its command line",
    violations: badImports(
      (source) => isIn(source, "provider") && !isIn(source, "provider/cli"),
      isUnder("provider/cli"),
    ),
  },
  {
    description: "only the command lines import commander",
    violations: badImports(
      (source) => isIn(source, ...packages) && !isIn(source, "provider/cli", "service/cli"),
      (target) => target === "commander",
    ),
  },
  {
    description: "nothing of the provider imports what is bundled",
    violations: badImports(
      (source) => isIn(source, "provider") && !isIn(source, "provider/bundle"),
      isUnder("provider/bundle"),
    ),
  },
  {
    description: "examples import only the package root and its estimates, and their tests the local service",
    violations: (sources) =>
      [false, true].flatMap((isTest) =>
        badImports(
          (source) => isIn(source, "examples") && source.path.endsWith(".test.ts") === isTest,
          (target) =>
            !["pulumi-serverless-compute", "pulumi-serverless-compute/estimate"].includes(target) &&
            !(isTest && target === "serverless-compute-local") &&
            (ownPackages.test(target) ||
              target.startsWith("../") ||
              (isCodePath(target) && !isUnder("examples")(target))),
        )(sources),
      ),
  },
  {
    description: "only service/store, and the support of its tests, name libsql",
    violations: badImports(
      (source) => !isIn(source, "service/store", "test/unit/service/store/support"),
      (target) => /^(@libsql\/|libsql(\/|$))/.test(target),
    ),
  },
  {
    description: "api and provider have no more than seven levels of imports",
    violations: (sources) =>
      ["api", "provider"]
        .map((name) => longestChain(sources.filter((source) => isIn(source, name))))
        .filter((chain) => chain.length > 7)
        .map((chain) => chain.join(" → ")),
  },
  {
    description: "no file is called utils, helpers, common or manager",
    violations: (sources) =>
      sources
        .filter(({ path }) => /(^|[/.-])(utils?|helpers?|commons?|managers?)(?=[./-])/i.test(path))
        .map(({ path }) => `${path} says nothing about its subject`),
  },
  {
    description: "nothing is cast by way of unknown",
    violations: (sources) =>
      sources.flatMap(({ path, doubleCasts }) => doubleCasts.map((line) => `${path}:${line} casts by way of unknown`)),
  },
  {
    description:
      "api, the engine's protocol and the framework have one error each, besides jobs, JSON texts and unfinished objects",
    violations: (sources) =>
      sources
        .filter((source) => isIn(source, "api", "provider"))
        .flatMap(({ path, errorClasses }) =>
          errorClasses.filter((name) => errorFiles[name] !== path).map((name) => `${path} defines ${name}`),
        ),
  },
  {
    // Node, undici, OpenSSL, Docker and Kubernetes report some faults only in a message.
    description: "packages read codes, not messages, except the classification of connection faults and the runtimes",
    violations: (sources) =>
      sources
        .filter(
          (source) => !isUnder("service/workers/runtimes")(source.path) && source.path !== "api/connection-faults.ts",
        )
        .filter((source) => isIn(source, "api", "provider", "service"))
        .flatMap(({ path, messageTests }) => messageTests.map((line) => `${path}:${line} tests a message`)),
  },
];

/** Returns true if a path of the repository contains code; files such as package.json may be read from anywhere. */
function isCodePath(path: string): boolean {
  return [...packages, "examples", "test", "scripts", "bench"].some((folder) => isUnder(folder)(path));
}

import { goal, longestChain } from "./import-graph";
import type { Source } from "./sources";

/** One rule of the architecture: a sentence, and what in the sources breaks it. */
export interface Rule {
  sentence: string;
  /** One line per violation: file and fault. */
  breaches(sources: Source[]): string[];
}

const packages = ["api", "provider", "service"];
const ours = /^(serverless-compute-api|pulumi-serverless-compute|serverless-compute-local)(\/|$)/;
const pulumi = /^@pulumi\//;
const within = (source: Source, ...folders: string[]): boolean =>
  folders.some((folder) => source.path === folder || source.path.startsWith(`${folder}/`));

/** Breaches of a rule about what some files may import; types count as much as values. */
const badImports =
  (concerned: (source: Source) => boolean, forbidden: (goal: string) => boolean) =>
  (sources: Source[]): string[] =>
    sources
      .filter(concerned)
      .flatMap((source) =>
        source.imports
          .filter((specifier) => forbidden(goal(source, specifier)))
          .map((specifier) => `${source.path} imports ${specifier}`),
      );

const leads =
  (folder: string) =>
  (path: string): boolean =>
    path === folder || path.startsWith(`${folder}/`);

/** Folders of the service, the highest first. */
const serviceFloors = ["cli", "seed", "console", "metrics", "api", "workers", "faults", "jobs", "resources", "store"];

/** Folders that both ways into Pulumi share, below them, the highest first. */
const providerFloors = [["bundle"], ["dynamic", "plugin"], ["verbs"], ["process"], ["protocol"]];

/** The rules that docs/architecture.md describes, in the order of its picture. */
export const rules: Rule[] = [
  {
    sentence: "api imports nothing else of ours",
    breaches: badImports(
      (source) => within(source, "api"),
      (to) => ours.test(to),
    ),
  },
  {
    sentence: "service imports only shapes, catalog and clock of api, and nothing of provider",
    breaches: badImports(
      (source) => within(source, "service"),
      (to) => ours.test(to) && !/^serverless-compute-api\/(shapes|catalog|clock)$/.test(to),
    ),
  },
  {
    sentence:
      "folders of the service import downwards only: cli, seed, console, metrics, api, workers, faults, jobs, resources, store",
    breaches: (sources) =>
      serviceFloors.flatMap((folder, floor) =>
        badImports(
          (source) => within(source, `service/${folder}`),
          (to) => serviceFloors.slice(0, floor).some((above) => leads(`service/${above}`)(to)),
        )(sources),
      ),
  },
  {
    sentence: "only cli imports the settings and the wiring of the service",
    breaches: badImports(
      (source) => serviceFloors.slice(1).some((folder) => within(source, `service/${folder}`)),
      (to) => /^service\/(index|job-path|endpoint-removal|settings)(\.ts)?$/.test(to),
    ),
  },
  {
    sentence: "provider imports nothing of service",
    breaches: badImports(
      (source) => within(source, "provider"),
      (to) => /^serverless-compute-local(\/|$)/.test(to),
    ),
  },
  {
    sentence: "packages reach each other by name, never by a path",
    breaches: (sources) =>
      packages.flatMap((name) =>
        badImports(
          (source) => within(source, name),
          (to) => to.startsWith("../") || (leadsToCode(to) && !leads(name)(to)),
        )(sources),
      ),
  },
  {
    sentence: "api and service know no Pulumi",
    breaches: badImports(
      (source) => within(source, "api", "service"),
      (to) => pulumi.test(to),
    ),
  },
  {
    sentence: "the lifecycle's machinery knows no Pulumi, no resource and nothing above",
    breaches: badImports(
      (source) => within(source, "provider/lifecycle"),
      (to) =>
        pulumi.test(to) || (leads("provider")(to) && !/^provider\/(lifecycle\/|settings\/setting-table$)/.test(to)),
    ),
  },
  {
    sentence: "of a resource, only its class and what it registers know Pulumi",
    breaches: badImports(
      (source) => within(source, "provider/resources") && !/\/(resource|registration)\.ts$/.test(source.path),
      (to) => pulumi.test(to),
    ),
  },
  {
    sentence: "resources import no code above them and no protocol",
    breaches: badImports(
      (source) => within(source, "provider/resources"),
      (to) =>
        ["dynamic", "plugin", "protocol", "process", "verbs", "functions", "index"].some((name) =>
          leads(`provider/${name}`)(to),
        ),
    ),
  },
  {
    sentence: "folders of the provider import downwards only: bundle, ways into Pulumi, verbs, process, protocol",
    breaches: (sources) =>
      providerFloors.flatMap((folders, floor) =>
        badImports(
          (source) => within(source, ...folders.map((folder) => `provider/${folder}`)),
          (to) =>
            providerFloors
              .slice(0, floor)
              .flat()
              .some((above) => leads(`provider/${above}`)(to)),
        )(sources),
      ),
  },
  {
    sentence: "the dynamic way does not import the plugin",
    breaches: badImports((source) => within(source, "provider/dynamic"), leads("provider/plugin")),
  },
  {
    sentence: "the plugin does not import the dynamic way",
    breaches: badImports((source) => within(source, "provider/plugin"), leads("provider/dynamic")),
  },
  {
    sentence: "the command line imports neither way into Pulumi, and no Pulumi",
    breaches: badImports(
      (source) => within(source, "provider/cli"),
      (to) => pulumi.test(to) || ["dynamic", "plugin", "bundle", "index"].some((name) => leads(`provider/${name}`)(to)),
    ),
  },
  {
    sentence: "nothing of the provider imports its command line",
    breaches: badImports(
      (source) => within(source, "provider") && !within(source, "provider/cli"),
      leads("provider/cli"),
    ),
  },
  {
    sentence: "only the command lines import commander",
    breaches: badImports(
      (source) => within(source, ...packages) && !within(source, "provider/cli", "service/cli"),
      (to) => to === "commander",
    ),
  },
  {
    sentence: "nothing of the provider imports what is bundled",
    breaches: badImports(
      (source) => within(source, "provider") && !within(source, "provider/bundle"),
      leads("provider/bundle"),
    ),
  },
  {
    sentence: "examples import only the package root and its estimates, and their tests the local service",
    breaches: (sources) =>
      [false, true].flatMap((isTest) =>
        badImports(
          (source) => within(source, "examples") && source.path.endsWith(".test.ts") === isTest,
          (to) =>
            !["pulumi-serverless-compute", "pulumi-serverless-compute/estimate"].includes(to) &&
            !(isTest && to === "serverless-compute-local") &&
            (ours.test(to) || to.startsWith("../") || (leadsToCode(to) && !leads("examples")(to))),
        )(sources),
      ),
  },
  {
    sentence: "only service/store names libsql",
    breaches: badImports(
      (source) => !within(source, "service/store"),
      (to) => /^(@libsql\/|libsql(\/|$))/.test(to),
    ),
  },
  {
    sentence: "api and provider have no more than six levels of imports",
    breaches: (sources) =>
      ["api", "provider"]
        .map((name) => longestChain(sources.filter((source) => within(source, name))))
        .filter((chain) => chain.length > 6)
        .map((chain) => chain.join(" → ")),
  },
  {
    sentence: "no file is called utils, helpers, common or manager",
    breaches: (sources) =>
      sources
        .filter(({ path }) => /(^|[/.-])(utils?|helpers?|commons?|managers?)(?=[./-])/i.test(path))
        .map(({ path }) => `${path} says nothing about its subject`),
  },
  {
    sentence: "nothing is cast by way of unknown",
    breaches: (sources) =>
      sources.flatMap(({ path, doubleCasts }) => doubleCasts.map((line) => `${path}:${line} casts by way of unknown`)),
  },
];

/** Returns true if a path of the repository holds code; package.json and the like may be read from anywhere. */
function leadsToCode(path: string): boolean {
  return [...packages, "examples", "test", "scripts", "bench"].some((folder) => leads(folder)(path));
}

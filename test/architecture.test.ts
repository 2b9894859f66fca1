import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { cruise, type IModule } from "dependency-cruiser";
import { afterAll, describe, expect, test } from "vitest";
import configuration from "../.dependency-cruiser.mjs";
import { scratchFolder } from "./support/folders";

const { forbidden = [], options = {} } = configuration;
const { enhancedResolveOptions, ...cruiseOptions } = options;

/** The modules below folders, and the imports that violate a rule. */
async function imports(baseDir: string, folders: string[]) {
  const settings = { ...cruiseOptions, baseDir, ruleSet: { forbidden }, validate: true, skipAnalysisNotInRules: true };
  const { output } = await cruise(folders, settings, enhancedResolveOptions);
  if (typeof output === "string") throw new Error(output);
  const { modules, summary } = output;
  return { modules, violations: summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`) };
}

describe("the sources follow the architecture", async () => {
  const root = fileURLToPath(new URL("..", import.meta.url));
  // No rule is about imports of other folders, which have more than half of the files.
  const folders = ["api", "provider", "service", "examples"];
  const { modules, violations } = await imports(root, folders);

  test("of every folder are read", () => {
    for (const folder of folders)
      expect(
        modules.some(({ source }) => source.startsWith(`${folder}/`)),
        folder,
      ).toBe(true);
  });

  test("and no import violates a rule of .dependency-cruiser.mjs", () => {
    expect(violations).toEqual([]);
  });

  test.each(["api", "provider"])("%s has no more than seven levels of imports", (name) => {
    expect(longestChain(modules, name).length).toBeLessThanOrEqual(7);
  });

  test("no file is called utils, helpers, common or manager", () => {
    const others = ["bench", "scripts", "test"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter(
        (path) => !path.includes("node_modules"),
      ),
    );
    const own = modules.map(({ source }) => source).filter((source) => !source.startsWith("node_modules/"));
    expect(
      [...own, ...others].filter((source) => /(^|[/.-])(utils?|helpers?|commons?|managers?)(?=[./-])/i.test(source)),
    ).toEqual([]);
  });
});

/** The longest chain of imports, types included, between the files and folders directly in a package. */
function longestChain(modules: Pick<IModule, "source" | "dependencies">[], name: string): string[] {
  const partOf = (path: string): string => path.split("/").slice(0, 2).join("/");
  const importsByPart = new Map<string, Set<string>>();
  for (const { source, dependencies } of modules.filter((module) => module.source.startsWith(`${name}/`))) {
    const parts = importsByPart.get(partOf(source)) ?? new Set();
    for (const { resolved } of dependencies)
      if (resolved.startsWith(`${name}/`) && partOf(resolved) !== partOf(source)) parts.add(partOf(resolved));
    importsByPart.set(partOf(source), parts);
  }
  const known = new Map<string, string[]>();
  const chainFrom = (part: string): string[] => {
    const found = known.get(part);
    if (found) return found;
    // A cycle ends here, because Biome reports it.
    known.set(part, []);
    const [longest = []] = [...(importsByPart.get(part) ?? [])].map(chainFrom).sort((a, b) => b.length - a.length);
    const chain = [part, ...longest];
    known.set(part, chain);
    return chain;
  };
  return [...importsByPart.keys()].map(chainFrom).sort((a, b) => b.length - a.length)[0] ?? [];
}

test("the levels of imports are counted, types included", () => {
  const chain = ["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => `api/${name}.ts`);
  const modules = chain.map((source, index) => ({
    source,
    dependencies: chain.slice(index + 1, index + 2).map((resolved) => Object.assign(Object.create(null), { resolved })),
  }));
  expect(longestChain(modules, "api")).toEqual(chain);
});

/** Files that violate a rule, by the rule's sentence; each file has its own path. */
const violatingFiles: Record<string, [path: string, text: string][]> = {
  "api imports nothing else of ours": [
    ["api/a.ts", 'import { x } from "pulumi-serverless-compute";'],
    ["api/b.ts", 'import type { X } from "serverless-compute-local";'],
  ],
  "service imports only shapes, catalog, clock, folders, JSON text and the commands about jobs of api, and nothing of provider":
    [
      ["service/a.ts", 'import { createClients } from "serverless-compute-api";'],
      ["service/b.ts", 'export * from "pulumi-serverless-compute";'],
      ["service/c.ts", 'const x = await import("serverless-compute-api/shapes/job");'],
    ],
  "folders of the service import downwards only: cli, seed, console, api, workers, metrics, queue, resources, faults, store":
    [
      ["service/api/a.ts", 'import { createConsole } from "../console";'],
      ["service/queue/b.ts", 'import type { ConsoleView } from "../console/overview";'],
      ["service/resources/a.ts", 'import { registerRestV1Routes } from "../api/management/rest-v1";'],
      ["service/resources/b.ts", 'import type { Job } from "../queue/job";'],
      ["service/queue/a.ts", 'import type { Worker } from "../workers/registry";'],
      ["service/faults/a.ts", 'import type { Job } from "../queue/job";'],
      ["service/workers/a.ts", 'import { roots } from "../api/responses";'],
      ["service/store/a.ts", 'import type { Job } from "../queue/job";'],
    ],
  "workers outside of runtimes import no process, container or pod": [
    ["service/workers/x.ts", 'import type { Containers } from "./runtimes/container/containers";'],
    ["service/workers/b.ts", 'import { startProcess } from "./runtimes/process/process";'],
  ],
  "only cli imports the settings and the wiring of the service": [
    ["service/workers/y.ts", 'import type { ServiceSettings } from "../settings";'],
    ["service/api/b.ts", 'import { createService } from "../index";'],
  ],
  "only the console imports its parts, because a service may run without it": [
    ["service/index.ts", 'const overview = await import("./console/overview.js");'],
    ["service/cli/a.ts", 'import type { ConsoleView } from "../console/overview";'],
  ],
  "provider imports nothing of service": [
    ["provider/a.ts", 'import { createService } from "serverless-compute-local";'],
  ],
  "packages reach each other by name, never by a path": [
    ["service/queue/x.ts", 'import { x } from "../../api/clock";'],
    ["provider/b.ts", 'const x = require("../service/errors");'],
    ["api/shapes/c.ts", 'import x from "../../../elsewhere";'],
  ],
  "api and service know no Pulumi": [["api/x.ts", 'import * as pulumi from "@pulumi/pulumi";']],
  "the framework and the engine know no Pulumi package": [
    ["provider/framework/a.ts", 'import type { Output } from "@pulumi/pulumi";'],
    ["provider/engine/a.ts", 'import { runtime } from "@pulumi/pulumi";'],
  ],
  "of a resource, only its class and what it registers know Pulumi": [
    ["provider/resources/secret/definition.ts", 'import type { Output } from "@pulumi/pulumi";'],
  ],
  "folders of the provider import downwards only: bundle, dynamic and plugin, functions, resources, framework, settings, engine":
    [
      ["provider/engine/x.ts", 'import { configNames } from "../settings/setting-names";'],
      ["provider/settings/a.ts", 'import { parseUrn } from "../framework/urn";'],
      ["provider/framework/b.ts", 'import { kinds } from "../resources";'],
      ["provider/framework/create/c.ts", 'import { provider } from "../../dynamic/provider";'],
      ["provider/framework/d.ts", 'type X = import("../plugin/server").Server;'],
      ["provider/resources/secret/resource.ts", 'import { provider } from "../../dynamic/provider";'],
      ["provider/resources/secret/a.ts", 'import { Secret } from "../../index";'],
      ["provider/functions/a.ts", 'import { main } from "../plugin/main";'],
    ],
  "the dynamic way does not import the plugin": [["provider/dynamic/a.ts", 'export { x } from "../plugin/values";']],
  "the plugin does not import the dynamic way": [["provider/plugin/a.ts", 'import "../dynamic/provider";']],
  "the command line imports neither way into Pulumi, and no Pulumi": [
    ["provider/cli/a.ts", 'import * as pulumi from "@pulumi/pulumi";'],
    ["provider/cli/b.ts", 'import { x } from "../plugin/values";'],
  ],
  "nothing of the provider imports its command line": [
    ["provider/resources/a.ts", 'import { parseState } from "../cli/state";'],
  ],
  "only the command lines import commander": [["provider/plugin/x.ts", 'import { Command } from "commander";']],
  "nothing of the provider imports what is bundled": [
    ["provider/dynamic/x.ts", 'import type { provider } from "../bundle/deployment";'],
  ],
  "examples import only the package root and its estimates, and their tests the local service": [
    ["examples/d/index.ts", 'import { createService } from "serverless-compute-local";'],
    ["examples/d/a.test.ts", 'import { x } from "serverless-compute-local/jobs";'],
    ["examples/a/index.ts", 'import { x } from "pulumi-serverless-compute/dynamic";'],
    ["examples/b/index.ts", 'import { x } from "../../provider";'],
    ["examples/c/index.ts", 'import { x } from "serverless-compute-api";'],
  ],
};

/** Writes files, and an empty file for each relative import. */
function writeFiles(folder: string, files: [path: string, text: string][]): void {
  const write = (path: string, text: string): void => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  for (const [path, text] of files) {
    for (const [, specifier = ""] of text.matchAll(/"(\.[^"]*)"/g))
      write(`${posix.join(posix.dirname(path), specifier.replace(/\.js$/, ""))}.ts`, "");
  }
  for (const [path, text] of files) write(path, text);
}

describe("a rule reports every import that violates it", async () => {
  const folder = join(scratchFolder(afterAll), "repository");
  writeFiles(folder, Object.values(violatingFiles).flat());
  // Together, because each call checks the rules.
  const { violations } = await imports(folder, ["."]);

  test("and each rule has such imports", () => {
    expect(Object.keys(violatingFiles).sort()).toEqual([...new Set(forbidden.map(({ name }) => name ?? ""))].sort());
  });

  test.each(Object.entries(violatingFiles))("%s", (name, files) => {
    for (const [path] of files) expect(violations.join("\n")).toContain(`${name}: ${path} → `);
  });
});

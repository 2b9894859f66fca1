import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { rules } from "./support/architecture-rules";
import { parseSource, readSources } from "./support/sources";

const sources = readSources(fileURLToPath(new URL("..", import.meta.url)));

const findRule = rules.map((rule) => [rule.description, rule] as const);

describe("the sources follow the architecture", () => {
  test("finds sources of every package", () => {
    for (const folder of ["api/", "provider/", "service/", "test/"]) {
      expect(
        sources.some(({ path }) => path.startsWith(folder)),
        folder,
      ).toBe(true);
    }
    expect(sources.find(({ path }) => path === "api/index.ts")?.imports.length).toBeGreaterThan(0);
  });

  test.each(findRule)("%s", (_sentence, { violations }) => {
    expect(violations(sources).join("\n")).toBe("");
  });
});

/** Files that violate a rule, by the rule's sentence; each file is a violation on its own, named by its path. */
const violatingFiles: Record<string, [path: string, text: string][]> = {
  "api imports nothing else of ours": [
    ["api/a.ts", 'import { x } from "pulumi-serverless-compute";'],
    ["api/b.ts", 'import type { X } from "serverless-compute-local";'],
  ],
  "service imports only shapes, catalog, clock, JSON text and the commands about jobs of api, and nothing of provider":
    [
      ["service/a.ts", 'import { createClients } from "serverless-compute-api";'],
      ["service/b.ts", 'export * from "pulumi-serverless-compute";'],
      ["service/c.ts", 'const x = await import("serverless-compute-api/shapes/job");'],
    ],
  "folders of the service import downwards only: cli, seed, console, api, workers, queue, resources, faults, store": [
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
    ["service/workers/a.ts", 'import type { Containers } from "./runtimes/container/containers";'],
    ["service/workers/b.ts", 'import { startProcess } from "./runtimes/process/process";'],
  ],
  "the service outside of runtimes does not depend on the name of the runtime": [
    ["service/workers/a.ts", 'export const x = ({ runtime }: Settings) => runtime === "kubernetes";'],
    ["service/cli/b.ts", 'export const x = (options: Options) => "docker" !== options.runtime;'],
    ["service/api/c.ts", 'switch (settings.runtime) { case "none": }'],
  ],
  "only cli imports the settings and the wiring of the service": [
    ["service/workers/a.ts", 'import type { ServiceSettings } from "../settings";'],
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
    ["service/queue/a.ts", 'import { x } from "../../api/clock";'],
    ["provider/b.ts", 'const x = require("../service/errors");'],
    ["api/shapes/c.ts", 'import x from "../../../elsewhere";'],
  ],
  "api and service know no Pulumi": [["api/a.ts", 'import * as pulumi from "@pulumi/pulumi";']],
  "the framework and the engine know no Pulumi package": [
    ["provider/framework/a.ts", 'import type { Output } from "@pulumi/pulumi";'],
    ["provider/engine/a.ts", 'import { runtime } from "@pulumi/pulumi";'],
  ],
  "of a resource, only its class and what it registers know Pulumi": [
    ["provider/resources/secret/definition.ts", 'import type { Output } from "@pulumi/pulumi";'],
  ],
  "folders of the provider import downwards only: bundle, dynamic and plugin, functions, resources, framework, settings, engine":
    [
      ["provider/engine/a.ts", 'import { configNames } from "../settings/setting-names";'],
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
  "only the command lines import commander": [["provider/plugin/a.ts", 'import { Command } from "commander";']],
  "nothing of the provider imports what is bundled": [
    ["provider/dynamic/a.ts", 'import type { provider } from "../bundle/deployment";'],
  ],
  "examples import only the package root and its estimates, and their tests the local service": [
    ["examples/d/index.ts", 'import { createService } from "serverless-compute-local";'],
    ["examples/d/a.test.ts", 'import { x } from "serverless-compute-local/jobs";'],
    ["examples/a/index.ts", 'import { x } from "pulumi-serverless-compute/dynamic";'],
    ["examples/b/index.ts", 'import { x } from "../../provider";'],
    ["examples/c/index.ts", 'import { x } from "serverless-compute-api";'],
  ],
  "only service/store, and the support of its tests, name libsql": [
    ["service/queue/store.ts", 'import Database from "libsql";'],
    ["test/unit/a.test.ts", 'import { createClient } from "@libsql/client";'],
  ],
  "api and provider have no more than seven levels of imports": [
    ["api/a.ts", 'import type { b } from "./b";'],
    ["api/b.ts", 'import { c } from "./c";'],
    ["api/c.ts", 'import { d } from "./d";'],
    ["api/d.ts", 'import { e } from "./e";'],
    ["api/e.ts", 'import { f } from "./f";'],
    ["api/f.ts", 'import { g } from "./g";'],
    ["api/g.ts", 'import { h } from "./h";'],
    ["api/h.ts", "export const h = 1;"],
  ],
  "no file is called utils, helpers, common or manager": [
    ["api/utils.ts", ""],
    ["service/queue/job-helpers.ts", ""],
    ["provider/common/a.ts", ""],
    ["test/support/manager.test.ts", ""],
  ],
  "nothing is cast by way of unknown": [["api/a.ts", "export const x = 1 as unknown as string;"]],
  "api, the engine's protocol and the framework have one error each, besides jobs, JSON texts and unfinished objects": [
    ["provider/resources/a.ts", "export class JobGone extends Error {}"],
    ["provider/framework/b.ts", "class LostCreate extends UserError {}"],
    ["provider/dynamic/c.ts", "export class Unfinished extends OperationFailure {}"],
  ],
  "packages read codes, not messages, except the classification of connection faults and the runtimes": [
    ["service/a.ts", 'export const x = (error: Error) => error.message.includes("lost");'],
    ["api/a.ts", 'export const x = (error: Error) => /"(\\w+)"/.exec(error.message);'],
    ["provider/b.ts", 'export const x = (error: Error) => error.message.includes("lost");'],
    ["provider/c.ts", 'export const x = (error: Error) => error.message === "lost";'],
  ],
};

/** Files that resemble a violation but conform. */
const validFiles: [path: string, text: string][] = [
  [
    "service/a.ts",
    'import { limits } from "serverless-compute-api/shapes";\nimport { systemClock } from "serverless-compute-api/clock";',
  ],
  ["service/settings.ts", "export const x = (seed: Seed) => seed.runtime === undefined;"],
  ["service/workers/runtimes/index.ts", 'export const x = (settings: Settings) => settings.runtime === "kubernetes";'],
  ["service/store/database.ts", 'import Database from "libsql";'],
  ["service/resources/a.ts", 'import type { Database } from "../store/database";\nimport { b } from "./b";'],
  ["service/b.ts", "export const text = 'as unknown as string';"],
  ["api/errors.ts", "export class ApiError extends Error {}"],
  ["api/errors.ts", 'export const x = (error: Error) => error.message.trim().replace(/\\n/g, " ");'],
  ["service/queue/commonwealth.ts", 'import { d } from "../d";\nexport const x = 1 as unknown;'],
  ["provider/index.ts", 'export * from "./resources/template/resource";'],
  [
    "provider/resources/template/resource.ts",
    'import * as pulumi from "@pulumi/pulumi";\nimport { resourceArguments } from "../resource-arguments";',
  ],
  ["provider/dynamic/provider.ts", 'import { kinds } from "../resources";\nimport { sealed } from "../engine/values";'],
  ["provider/framework/lists.ts", 'import type { Clients } from "serverless-compute-api";'],
  [
    "examples/a/index.ts",
    'import * as pulumi from "@pulumi/pulumi";\nimport { Template } from "pulumi-serverless-compute";',
  ],
  ["examples/a/a.test.ts", 'import { createService } from "serverless-compute-local";'],
  ["examples/a/handler.mjs", "export default (job) => job.input;"],
];

describe("the rules detect violations", () => {
  test.each(findRule)("%s: reports every violation", (sentence, { violations }) => {
    const bad = (violatingFiles[sentence] ?? []).map(([path, text]) => parseSource(path, text));
    const seen = violations(bad);
    expect(bad.length, "a sample that violates the rule").toBeGreaterThan(0);
    for (const { path } of bad) expect(seen.join("\n")).toContain(path);
  });

  test.each(findRule)("%s: accepts conforming sources", (_sentence, { violations }) => {
    expect(violations(validFiles.map(([path, text]) => parseSource(path, text))).join("\n")).toBe("");
  });
});

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
/** @param {string} path */
const inRepository = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const folder = inRepository("provider/dist");

/**
 * Modules that only API calls require, by package, export and file. They form a separate bundle that is loaded at the
 * first call, so that commands without calls save its time and memory.
 * @type {Record<string, Record<string, string>>}
 */
const lazyParts = {
  undici: {
    Agent: 'require("undici/lib/dispatcher/agent")',
    EnvHttpProxyAgent: 'require("undici/lib/dispatcher/env-http-proxy-agent")',
  },
  "graphql-request": { GraphQLClient: 'require("graphql-request").GraphQLClient' },
};
const lazyBundle = "./deployment-clients.js";
/** undici's index adds methods to every dispatcher; only the proxy tunnels use one of them. */
const lazyMethods =
  'require("undici/lib/dispatcher/dispatcher").prototype.connect = require("undici/lib/api/api-connect");';

/** @type {import("esbuild").Plugin} */
const loadLazily = {
  name: "load-lazily",
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(${Object.keys(lazyParts).join("|")})$`) }, ({ path }) => ({
      path,
      namespace: "lazy",
    }));
    build.onResolve({ filter: new RegExp(`^${lazyBundle}$`) }, ({ path }) => ({ path, external: true }));
    build.onLoad({ filter: /./, namespace: "lazy" }, ({ path }) => {
      const names = JSON.stringify(Object.keys(lazyParts[path] ?? {}));
      const contents = `for (const name of ${names})
        Object.defineProperty(exports, name, { enumerable: true, get: () => require("${lazyBundle}")[name] });`;
      return { contents, resolveDir: folder };
    });
  },
};

/**
 * Includes only the used parts of zod: no translations, and no conversion to JSON Schema, to which each class refers. esbuild can
 * tree-shake the members of a namespace.
 * @type {import("esbuild").Plugin}
 */
const littleZod = {
  name: "little-zod",
  setup(build) {
    build.onLoad({ filter: /[\\/](api|provider)[\\/].*\.ts$/ }, ({ path }) => {
      const contents = readFileSync(path, "utf8").replace('import { z } from "zod"', 'import * as z from "zod"');
      return { contents, loader: "ts" };
    });
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: "export {};" }));
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]classic[\\/]schemas\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8")
        .replace(/^.*\.processJSONSchema = .*;$/gm, "")
        .replace(/create(Standard|To)JSONSchemaMethod\(this, .*?\)/g, "undefined"),
    }));
  },
};

/** Options of all bundles, which require only Node. */
const options = /** @satisfies {import("esbuild").BuildOptions} */ ({
  bundle: true,
  write: false,
  platform: "node",
  target: "node20",
  minify: true,
  legalComments: "linked",
  metafile: true,
  absWorkingDir: inRepository("."),
  logLevel: "warning",
});

const deploymentEntry = inRepository("provider/bundle/deployment.ts");

/**
 * Options for the two parts: deployment-clients.js, and deployment.js, which requires it by name.
 * @param {string} entry Source of deployment.js.
 */
async function buildParts(entry) {
  // Imported here and not above, because this file is also imported in a fresh clone without packages.
  const { build } = require("esbuild");
  const lazyPartNames = Object.values(lazyParts).flatMap((parts) => Object.entries(parts));
  // Loaded on use: proxy agents, only if a proxy is set.
  const lazyText = [
    lazyMethods,
    ...lazyPartNames.map(([name, from]) => `Object.defineProperty(exports, "${name}", { get: () => ${from} });`),
  ].join("\n");
  const clients = await build({
    ...options,
    stdin: { contents: lazyText, resolveDir: inRepository("api") },
    outfile: join(folder, lazyBundle),
    mainFields: ["module", "main"],
    alias: {
      // Loaded as an ES module, so that unused imports from graphql are dropped.
      "graphql-request": createRequire(inRepository("api/package.json"))
        .resolve("graphql-request")
        .replace(/\.cjs$/, ".js"),
    },
  });
  const remainder = await build({
    ...options,
    entryPoints: [entry],
    outfile: join(folder, "deployment.js"),
    // ES modules first, so that unused exports are dropped.
    mainFields: ["module", "main"],
    alias: {
      "serverless-compute-api": inRepository("api/index.ts"),
      "serverless-compute-api/shapes": inRepository("api/shapes/index.ts"),
      "serverless-compute-api/address": inRepository("api/address.ts"),
      "serverless-compute-api/limits": inRepository("api/shapes/limits.ts"),
      "serverless-compute-api/redaction": inRepository("api/redaction.ts"),
      "serverless-compute-api/catalog": inRepository("api/catalog.ts"),
      "serverless-compute-api/clock": inRepository("api/clock.ts"),
      "serverless-compute-api/spelling": inRepository("api/spelling.ts"),
    },
    plugins: [loadLazily, littleZod],
  });
  return [clients, remainder];
}

/**
 * The parts that a plugin entry loads on demand, with third-party notices.
 * @param {string} [entry] Source of deployment.js.
 */
export async function bundleParts(entry = deploymentEntry) {
  const parts = await buildParts(entry);
  return parts.flatMap(({ outputFiles }) => outputFiles.map(({ path, text }) => ({ path, text })));
}

/** Third-party packages in the bundles, as folders relative to the repository's root. */
export async function bundledPackages() {
  const bundles = [...(await buildParts(deploymentEntry)), await buildEntry("node-entry", {})];
  const files = bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const packageFolders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  return [...new Set(packageFolders)].sort();
}

/** @typedef {"node-entry" | "executable-entry"} EntryName Of a file in provider/plugin. */

/** @param {EntryName} name @param {Record<string, string>} define */
function buildEntry(name, define) {
  const { build } = require("esbuild");
  const { version } = require("../../provider/package.json");
  return build({
    ...options,
    entryPoints: [inRepository(`provider/plugin/${name}.ts`)],
    outfile: join(folder, "plugin.js"),
    external: ["./deployment.js"],
    define: { ...define, packageVersion: JSON.stringify(version) },
  });
}

/**
 * Options for a plugin entry: the early part, which opens the port.
 * @param {EntryName} name
 * @param {Record<string, string>} [define] Values of constants that the entry declares.
 */
export async function bundleEntry(name, define = {}) {
  const { outputFiles } = await buildEntry(name, define);
  return outputFiles.map(({ path, text }) => ({ path, text }));
}

/** The package schema as returned by the plugin. */
export const schemaText = () => JSON.stringify(require("../../schema.json"));

/**
 * Bundles the plugin to provider/dist: plugin.js, which provider/bin starts, the parts that it loads on demand, and the
 * schema. Safe under concurrent processes.
 * @param {string} [target] Another folder than provider/dist.
 * @param {string} [entry] Another source of the lazy part.
 */
export async function bundlePlugin(target = folder, entry = deploymentEntry) {
  const parts = [
    ...(await bundleParts(entry)),
    ...(await bundleEntry("node-entry")),
    { path: "plugin-schema.json", text: schemaText() },
  ];
  mkdirSync(target, { recursive: true });
  for (const { path, text } of parts) {
    const file = join(target, basename(path));
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, text);
    renameSync(draft, file);
  }
}

// Not awaited, because the CommonJS bench could not import this file.
if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) void bundlePlugin();

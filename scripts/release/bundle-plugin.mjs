import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
/** @param {string} path */
const inRepository = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const folder = inRepository("provider/dist");

/**
 * Packages that only a call to the service needs. They are in a file of their own, which is read at the first one: a
 * command that makes none has neither the time nor the memory for them.
 */
const late = ["undici", "graphql-request"];
const lateFile = "plugin-late.js";

/** @type {import("esbuild").Plugin} */
const loadLate = {
  name: "load-late",
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(${late.join("|")})$`) }, ({ path, importer }) => ({
      path: createRequire(importer).resolve(path),
      namespace: "late",
      pluginData: path,
    }));
    // As seen from provider/dist/plugin/run-bundle.js, whose `require` the bundle gets.
    build.onResolve({ filter: new RegExp(`^../${lateFile}$`) }, ({ path }) => ({ path, external: true }));
    build.onLoad({ filter: /./, namespace: "late" }, ({ path, pluginData }) => {
      const names = JSON.stringify(Object.keys(require(path)));
      const one = JSON.stringify(pluginData);
      const contents = `for (const name of ${names})
        Object.defineProperty(exports, name, { enumerable: true, get: () => require("../${lateFile}")[${one}][name] });`;
      return { contents, resolveDir: folder };
    });
  },
};

/**
 * Of zod, only what is used gets in, and none of its translations: members of a namespace can be told apart.
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
  },
};

/**
 * Bundles the plugin to one file that needs nothing but Node, provider/dist/plugin.js, with its code cache beside it.
 * It is started by provider/bin. Needs the compiled sources. Safe beside another process that does the same.
 */
export async function bundlePlugin() {
  // Here and not above: this file is imported in a fresh clone too, before there are any packages.
  const { build } = require("esbuild");
  const { packageSchema } = require("../../provider/dist/schema/package-schema.js");
  const { version } = require("../../provider/package.json");
  /** @satisfies {import("esbuild").BuildOptions} */
  const options = {
    bundle: true,
    write: false,
    platform: "node",
    target: "node20",
    minify: true,
    legalComments: "linked",
    logLevel: "warning",
  };
  const lateText = late
    .map((name) => `exports[${JSON.stringify(name)}] = require(${JSON.stringify(name)});`)
    .join("\n");
  const { outputFiles: lateFiles } = await build({
    ...options,
    stdin: { contents: lateText, resolveDir: inRepository("api") },
    outfile: join(folder, lateFile),
  });
  const { outputFiles } = await build({
    ...options,
    entryPoints: [inRepository("provider/plugin/serve.ts")],
    outfile: join(folder, "plugin.js"),
    // ES modules first: of those only what is used gets in.
    mainFields: ["module", "main"],
    alias: {
      "serverless-compute-api": inRepository("api/index.ts"),
      "serverless-compute-api/shapes": inRepository("api/shapes/index.ts"),
      "serverless-compute-api/address": inRepository("api/address.ts"),
      "serverless-compute-api/redaction": inRepository("api/redaction.ts"),
      "serverless-compute-api/clock": inRepository("api/clock.ts"),
    },
    plugins: [loadLate, littleZod],
    // For grpc's own monitoring service, which the plugin does not offer.
    external: ["@grpc/proto-loader"],
    define: {
      packageVersion: JSON.stringify(version),
      packageSchemaText: JSON.stringify(JSON.stringify(packageSchema(version))),
    },
  });
  const texts = [
    ...lateFiles,
    ...outputFiles.map(({ path, text }) => ({ path, text: path.endsWith(".js") ? signed(text) : text })),
  ];
  const changed = texts.filter(({ path, text }) => !existsSync(path) || readFileSync(path, "utf8") !== text);
  for (const { path, text } of changed) {
    const draft = `${path}.${process.pid}`;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(draft, text);
    renameSync(draft, path);
  }
  const caches = cachesIn(folder);
  if (changed.length === 0 && caches.some((name) => name.includes(process.version))) return;
  if (changed.length > 0) for (const name of caches) rmSync(join(folder, name), { force: true });
  await runOnce();
}

/**
 * The code cache is kept under this checksum: V8 itself would take the cache of another text of the same length. The text
 * is a function already, because putting one around it at every start would copy it.
 * @param {string} text
 */
function signed(text) {
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${text}\n})`;
  return `//${createHash("sha256").update(wrapped).digest("hex")}\n${wrapped}\n`;
}

/** @param {string} path */
const cachesIn = (path) => readdirSync(path).filter((name) => /^plugin-.*\.cache$/.test(name));

/** Starts the plugin as the engine would: at its first run it makes the code cache for this version of Node. */
async function runOnce() {
  const launcher = inRepository("provider/bin/pulumi-resource-serverless-compute");
  const child = spawn(process.execPath, [launcher], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const started = await new Promise((resolve) => {
    child.stdout.once("data", () => resolve(true));
    void ended.then(() => resolve(false));
  });
  if (!started) throw new Error("the bundled plugin does not start; what it printed is above");
  const deadline = Date.now() + 10_000;
  const isThere = () => cachesIn(folder).some((name) => name.includes(process.version));
  // Without it the plugin starts slower, and makes it later: nothing to fail for.
  while (!isThere() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
  child.kill();
  await ended;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await bundlePlugin();

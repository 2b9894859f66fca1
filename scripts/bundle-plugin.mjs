import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
/** @param {string} path */
const inRepository = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const folder = inRepository("provider/dist");

/** Packages that only a call to the service needs: a command that makes none does not wait for them to load. */
const late = ["undici", "graphql-request"];

/** @type {import("esbuild").Plugin} */
const loadLate = {
  name: "load-late",
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(${late.join("|")})$`) }, async ({ path, importer, kind, resolveDir }) => {
      const found = createRequire(importer).resolve(path);
      return kind === "require-call" ? undefined : { path: found, namespace: "late", pluginData: resolveDir };
    });
    build.onLoad({ filter: /./, namespace: "late" }, ({ path, pluginData }) => {
      const names = JSON.stringify(Object.keys(require(path)));
      const contents = `for (const name of ${names})
        Object.defineProperty(exports, name, { enumerable: true, get: () => require(${JSON.stringify(path)})[name] });`;
      return { contents, resolveDir: pluginData };
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
  const { packageSchema } = require("../provider/dist/schema/package-schema.js");
  const { version } = require("../provider/package.json");
  /** @type {import("esbuild").BuildResult<{ write: false }>} */
  const { outputFiles } = await build({
    entryPoints: [inRepository("provider/plugin/serve.ts")],
    outfile: join(folder, "plugin.js"),
    bundle: true,
    write: false,
    platform: "node",
    target: "node20",
    // ES modules first: of those only what is used gets in.
    mainFields: ["module", "main"],
    alias: {
      "serverless-compute-api": inRepository("api/index.ts"),
      "serverless-compute-api/shapes": inRepository("api/shapes/index.ts"),
      "serverless-compute-api/address": inRepository("api/address.ts"),
      "serverless-compute-api/clock": inRepository("api/clock.ts"),
    },
    plugins: [loadLate, littleZod],
    // For grpc's own monitoring service, which the plugin does not offer.
    external: ["@grpc/proto-loader"],
    minify: true,
    legalComments: "linked",
    define: {
      packageVersion: JSON.stringify(version),
      packageSchemaText: JSON.stringify(JSON.stringify(packageSchema(version))),
    },
    logLevel: "warning",
  });
  const texts = outputFiles.map(({ path, text }) => ({ path, text: path.endsWith(".js") ? signed(text) : text }));
  const changed = texts.filter(({ path, text }) => !existsSync(path) || readFileSync(path, "utf8") !== text);
  for (const { path, text } of changed) {
    const draft = `${path}.${process.pid}`;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(draft, text);
    renameSync(draft, path);
  }
  const caches = readdirSync(folder).filter((name) => /^plugin-.*\.cache$/.test(name));
  if (changed.length === 0 && caches.length > 0) return;
  for (const name of caches) rmSync(join(folder, name), { force: true });
  await runOnce();
}

/**
 * The code cache is kept under this checksum: V8 itself would take the cache of another text of the same length.
 * @param {string} text
 */
function signed(text) {
  return `//${createHash("sha256").update(text).digest("hex")}\n${text}`;
}

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
  const isThere = () => readdirSync(folder).some((name) => /^plugin-.*\.cache$/.test(name));
  // Without it the plugin starts slower, and makes it later: nothing to fail for.
  while (!isThere() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
  child.kill();
  await ended;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await bundlePlugin();

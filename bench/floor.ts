import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { bundlePlugin } from "../scripts/release/bundle-plugin.mjs";

const root = join(__dirname, "..");

/**
 * Makes a copy of the built package in `folder` whose kinds return at once, for both ways: what a deployment takes at least
 * by our process and transport.
 */
export async function makeFloor(folder: string): Promise<void> {
  await cp(join(root, "provider"), folder, {
    recursive: true,
    filter: (path) => !/\.(ts|cache|tsbuildinfo)$/.test(path),
  });
  await mkdir(join(folder, "dist"), { recursive: true });
  await bundlePlugin(join(folder, "dist"), join(root, "bench", "floor-rest.ts"));
  // The dynamic way has no bundle: of the compiled files, the table of kinds is another one.
  const table = join(folder, "dist", "resources", "index.js");
  const options = { bundle: true, platform: "node", target: "node20", write: false } as const;
  const contents = `exports.floorOfAll = require("./floor-kinds").floorOfAll;`;
  const [floor] = buildSync({ ...options, stdin: { contents, resolveDir: __dirname } }).outputFiles;
  await writeFile(join(folder, "dist", "floor.js"), floor?.text ?? "");
  await cp(table, join(folder, "dist", "resources", "real.js"));
  await writeFile(table, 'exports.kinds = require("../floor.js").floorOfAll(require("./real.js").kinds);\n');
}

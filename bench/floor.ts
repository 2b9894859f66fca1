import { cp } from "node:fs/promises";
import { join } from "node:path";
import { bundlePlugin } from "../scripts/release/bundle-plugin.mjs";

const root = join(__dirname, "..");

/**
 * Copies the built package to `folder` with kinds that return immediately, for both provider variants: the minimum cost
 * of our process and transport.
 */
export async function createFloor(folder: string): Promise<void> {
  await cp(join(root, "provider"), folder, {
    recursive: true,
    filter: (path) => !/\.(ts|cache|tsbuildinfo)$/.test(path),
  });
  await bundlePlugin(join(folder, "dist"), join(root, "bench", "floor-deployment.ts"));
}

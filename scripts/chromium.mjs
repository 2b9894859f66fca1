import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The names under which systems have it. */
const names = ["chromium", "chromium-browser", "google-chrome"];

/**
 * Path of a Chromium of this machine that runs; undefined when there is none. Nothing is downloaded.
 * @returns {string | undefined}
 */
export function findChromium() {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.filter(existsSync).find((path) => spawnSync(path, ["--version"], { timeout: 60_000 }).status === 0);
}

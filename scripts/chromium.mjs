import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Executable names of Chromium on common systems. */
const names = ["chromium", "chromium-browser", "google-chrome"];

/**
 * Path of a working Chromium on this machine; undefined if there is none. Nothing is downloaded.
 * @returns {string | undefined}
 */
export function findChromium() {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.filter(existsSync).find((path) => spawnSync(path, ["--version"], { timeout: 60_000 }).status === 0);
}

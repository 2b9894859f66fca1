import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * What every script that writes files into the repository ends with. With `--check` among the arguments it writes
 * nothing: it says which files are not what would be written, and the exit code is 1.
 * @param {string} folder The folder that the paths are below.
 * @param {Record<string, string>} files Text by path.
 * @param {readonly string[]} [argv] Default: this process's arguments.
 */
export function writeOrCheck(folder, files, argv = process.argv) {
  const script = basename(argv[1] ?? "");
  const extra = argv.slice(2).filter((arg) => arg !== "--check");
  if (extra.length > 0) throw new Error(`${script}: unknown argument ${extra.join(" ")}; --check is allowed`);
  const check = argv.includes("--check");
  for (const [path, text] of Object.entries(files)) {
    if (!check) {
      writeFileSync(join(folder, path), text);
      console.log(`${path} is written.`);
    } else if (textOf(join(folder, path)) !== text) {
      console.error(`${path} is out of date. Run: npm run build && node scripts/${script}`);
      process.exitCode = 1;
    }
  }
}

/**
 * A file's text; undefined when there is no such file.
 * @param {string} path
 */
function textOf(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

import { access, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isNotFound, lastLines, run, ToolMissing } from "../../scripts/child.mjs";
import { withLock } from "../../scripts/lock.mjs";
import { createProgress } from "../../scripts/progress.mjs";

/** Runs a command to its end. Returns its output. */
export async function succeed(command: string, args: string[]): Promise<string> {
  const finished = await run(command, args, { timeout: 300_000 });
  if (finished.code !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${lastLines(finished)}`);
  return finished.stdout.trim();
}

/** Throws `ToolMissing` without Python, or if its modules for virtual environments are missing. */
async function checkPython(python: string): Promise<void> {
  const missing = (what: string): ToolMissing => new ToolMissing(`there is no ${what}`);
  const finished = await run(python, ["-c", "import ensurepip, venv"], { timeout: 60_000 }).catch((error) => {
    throw isNotFound(error) ? missing(`\`${python}\` on PATH`) : error;
  });
  if (finished.code === 0) return;
  // Version managers exit with 127 if no version is selected.
  if (finished.code === 127) throw missing(`\`${python}\` on PATH`);
  const [, module] = /No module named '?(\w+)/.exec(finished.stderr) ?? [];
  if (module) throw missing(`module ${module} in \`${python}\` (on Debian and Ubuntu: apt install python3-venv)`);
  throw new Error(`${python} failed: ${lastLines(finished)}`);
}

/**
 * Creates a virtual environment with packages from the registry once; later runs reuse it. Throws `ToolMissing` without
 * Python; a failure of Python or pip is another error.
 */
export async function pythonWith(requirements: string[], folder: string, python = "python3"): Promise<string> {
  const made = join(folder, "bin", "python");
  const isThere = (): Promise<boolean> =>
    access(made).then(
      () => true,
      () => false,
    );
  if (await isThere()) return made;
  await checkPython(python);
  const make = async (): Promise<void> => {
    if (await isThere()) return;
    const step = createProgress().start(`Installing ${requirements[0]} for Python, once`);
    const draft = `${folder}.${process.pid}`;
    await mkdir(draft, { recursive: true });
    try {
      await succeed(python, ["-m", "venv", draft]);
      const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
      await succeed(join(draft, "bin", "python"), [...pip, ...requirements]);
      // A virtual environment contains its own path only in scripts that tests do not run.
      await rename(draft, folder);
    } finally {
      step.done();
      await rm(draft, { recursive: true, force: true });
    }
  };
  await mkdir(join(folder, ".."), { recursive: true });
  await withLock(`${folder}.lock`, make);
  return made;
}

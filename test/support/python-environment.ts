import { access, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isNotFound, lastLines, run, ToolMissing } from "../../scripts/child.mjs";
import { withLock } from "../../scripts/lock.mjs";
import { createProgress } from "../../scripts/progress.mjs";
import { runChecked } from "./run-checked";

const python = "python3";

/** Throws `ToolMissing` without Python, or if its modules for virtual environments are missing. */
async function checkPython(): Promise<void> {
  const toolMissing = (name: string): ToolMissing => new ToolMissing(`there is no ${name}`);
  const finished = await run(python, ["-c", "import ensurepip, venv"], { timeout: 60_000 }).catch((error) => {
    throw isNotFound(error) ? toolMissing(`\`${python}\` on PATH`) : error;
  });
  if (finished.code === 0) return;
  // Version managers exit with 127 if no version is selected.
  if (finished.code === 127) throw toolMissing(`\`${python}\` on PATH`);
  const [, module] = /No module named '?(\w+)/.exec(finished.stderr) ?? [];
  if (module) throw toolMissing(`module ${module} in \`${python}\` (on Debian and Ubuntu: apt install python3-venv)`);
  throw new Error(`${python} failed: ${lastLines(finished)}`);
}

/**
 * Creates a virtual environment with packages from the registry once; later runs reuse it. Throws `ToolMissing` without
 * Python; a failure of Python or pip is another error.
 */
export async function pythonWith(requirements: string[], folder: string): Promise<string> {
  const interpreter = join(folder, "bin", "python");
  const isInstalled = (): Promise<boolean> =>
    access(interpreter).then(
      () => true,
      () => false,
    );
  if (await isInstalled()) return interpreter;
  await checkPython();
  const create = async (): Promise<void> => {
    if (await isInstalled()) return;
    const step = createProgress().start(`Installing ${requirements[0]} for Python, once`);
    const temporaryFolder = `${folder}.${process.pid}`;
    await mkdir(temporaryFolder, { recursive: true });
    try {
      await runChecked(python, ["-m", "venv", temporaryFolder]);
      const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
      await runChecked(join(temporaryFolder, "bin", "python"), [...pip, ...requirements]);
      // A virtual environment contains its own path only in scripts that tests do not run.
      await rename(temporaryFolder, folder);
    } finally {
      step.done();
      await rm(temporaryFolder, { recursive: true, force: true });
    }
  };
  await mkdir(join(folder, ".."), { recursive: true });
  await withLock(`${folder}.lock`, create);
  return interpreter;
}

import { access, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { lastLines, run } from "../../../scripts/child.mjs";
import { withLock } from "../../../scripts/lock.mjs";
import { createProgress } from "../../../scripts/progress.mjs";
import { repository } from "../../plugin/support/sdk";

/** A Node of another version, or the reason for its absence. */
type OtherNode = { command: string } | { reason: string };

/**
 * Finds that version of Node in npm's packages, fetched once into an ignored folder. A system without such a package is
 * a reason; a failed fetch is an error.
 */
export async function findNode(version: string): Promise<OtherNode> {
  const system = `${process.platform}-${process.arch}`;
  if (!["linux-x64", "linux-arm64"].includes(system)) return { reason: `npm has no Node ${version} for ${system}` };
  const name = `node-${system}`;
  const folder = join(repository, ".serverless-compute", `${name}-${version}`);
  const command = join(folder, "node_modules", name, "bin", "node");
  const exists = () =>
    access(command).then(
      () => true,
      () => false,
    );
  const fetchNode = async (): Promise<void> => {
    if (await exists()) return;
    const step = createProgress().start(`Fetching Node ${version} from npm, once`);
    const temporaryFolder = `${folder}.${process.pid}`;
    await mkdir(temporaryFolder, { recursive: true });
    try {
      await writeFile(join(temporaryFolder, "package.json"), '{ "private": true }\n');
      const flags = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
      const finished = await run("npm", ["install", ...flags, `${name}@${version}`], {
        cwd: temporaryFolder,
        timeout: 280_000,
      });
      if (finished.code !== 0) throw new Error(`Node ${version} could not be fetched: ${lastLines(finished)}`);
      await rename(temporaryFolder, folder);
    } finally {
      step.done();
      await rm(temporaryFolder, { recursive: true, force: true });
    }
  };
  await mkdir(dirname(folder), { recursive: true });
  await withLock(`${folder}.lock`, fetchNode);
  return { command };
}

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { isNotFound, lastLines, run, ToolMissing } from "../../scripts/child.mjs";
import { withLock } from "../../scripts/lock.mjs";
import { pythonWith } from "../support/python-environment";
import { runChecked } from "../support/run-checked";
import { versions } from "./versions";

/** A program such as a Python with the public SDK, the reason why this machine cannot have it, or the failure to prepare it. */
export type SdkProgram = { path: string } | { missing: string } | { failure: string };

/** Package of the public SDK. */
export const sdk = `runpod==${versions.pythonSdk}`;
/** Both supported versions of the package, and a Python with each. */
export const findPythonSdks = (): Promise<{ version: string; python: SdkProgram }[]> =>
  Promise.all(
    [versions.pythonSdk, versions.pythonSdk2].map(async (version) => ({
      version,
      python: await findPython(`runpod==${version}`),
    })),
  );
const cache = new URL("../../.serverless-compute/", import.meta.url);

/**
 * Creates an environment of Python with packages once; later runs reuse it. Default: the public SDK. A failure is returned, so that
 * only tests that need Python fail.
 */
export async function findPython(name = sdk, ...otherPackages: string[]): Promise<SdkProgram> {
  const folder = fileURLToPath(new URL(`python-${name.replace("==", "-")}`, cache));
  try {
    return { path: await pythonWith([name, ...otherPackages], folder) };
  } catch (error) {
    const reason = `no Python with ${name} could be made here: ${error instanceof Error ? error.message : error}`;
    return error instanceof ToolMissing ? { missing: reason } : { failure: reason };
  }
}

/** Installs a version of the MCP server from the registry once; later runs reuse it. Its install scripts do not run. */
export async function findMcpServer(version: string): Promise<{ path: string; folder: string }> {
  const folder = fileURLToPath(new URL(`mcp-server-${version}`, cache));
  const path = join(folder, "node_modules/@runpod/mcp-server/dist/stdio.mjs");
  const install = async (): Promise<void> => {
    if (existsSync(path)) return;
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", folder];
    await mkdir(folder, { recursive: true });
    await runChecked("npm", ["install", ...flags, `@runpod/mcp-server@${version}`]);
  };
  if (!existsSync(path)) await withLock(`${folder}.lock`, install);
  return { path, folder };
}

/** The output of `go mod download -json`. */
const downloadedModule = z.object({ Dir: z.string() });

/** Source of runpodctl, by the commit of its version: the tags do not have the form that Go requires of the module's path. */
const runpodctl = { module: "github.com/runpod/runpodctl", commit: "309512b4926eb7d218bbc8a8f11d380ce54f59c4" };

/** Programs in Go: a module, and the arguments of `go` that build a package of it. */
const goPrograms = {
  runpodctl: {
    ...runpodctl,
    build: ["build"],
    package: ".",
    /** Variable with the path of a program that was built elsewhere, for machines whose module proxy does not provide the module. */
    variable: "RUNPODCTL",
  },
  "runpodctl-suite": {
    ...runpodctl,
    build: ["test", "-c", "-tags", "e2e"],
    package: "./e2e",
    variable: "RUNPODCTL_SUITE",
  },
  "pulumi-resource-runpod": {
    module: "github.com/runpod/pulumi-runpod/provider",
    commit: "8a7e9d4a67670f85413e21621808596216d509a4",
    build: ["build"],
    package: "./cmd/pulumi-resource-runpod",
    variable: "PULUMI_RESOURCE_RUNPOD",
  },
} as const;

/** Builds a program from its Go module once; later runs reuse it. */
export async function findGoProgram(name: keyof typeof goPrograms): Promise<SdkProgram> {
  const { module, commit, build, package: source, variable } = goPrograms[name];
  const configured = process.env[variable];
  if (configured) return { path: configured };
  const folder = fileURLToPath(new URL(`${name}-${commit.slice(0, 12)}`, cache));
  const path = join(folder, name);
  const install = async (): Promise<SdkProgram> => {
    if (existsSync(path)) return { path };
    const download = await run("go", ["mod", "download", "-json", `${module}@${commit}`], { timeout: 600_000 });
    if (/: (403|404|410) |not found|unknown revision/i.test(download.stdout))
      return { missing: `the Go module proxy of this machine does not provide ${module}` };
    if (download.code !== 0) return { failure: `go mod download ${module} failed: ${lastLines(download)}` };
    const { Dir: cwd } = downloadedModule.parse(JSON.parse(download.stdout));
    const result = await run("go", [...build, "-o", path, source], { cwd, timeout: 600_000 });
    return result.code === 0 ? { path } : { failure: `go ${build.join(" ")} ${module} failed: ${lastLines(result)}` };
  };
  try {
    await mkdir(folder, { recursive: true });
    return await withLock(`${folder}.lock`, install);
  } catch (error) {
    if (isNotFound(error)) return { missing: "there is no `go` on PATH" };
    throw error;
  }
}

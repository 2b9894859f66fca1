import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { isNotFound, lastLines, run, ToolMissing } from "../../scripts/child.mjs";
import { findCli } from "../../scripts/cli/cli.mjs";
import type { Cli } from "../../scripts/cli/folder.mjs";
import { withLock } from "../../scripts/lock.mjs";
import { pythonWith, succeed } from "../support/python-environment";
import { versions } from "./versions";

/** A program such as a Python with the public SDK, the reason why this machine cannot have it, or the failure to prepare it. */
export type SdkProgram = { path: string } | { missing: string } | { failure: string };

/** The MCP server's program and the folder that it was installed into, or how that failed. */
export type SdkMcpServer = { path: string; folder: string } | { failure: string };

declare module "vitest" {
  interface ProvidedContext {
    python: SdkProgram;
    /** Python with flash and the SDK. */
    flash: SdkProgram;
    /** Python with dstack. */
    dstack: SdkProgram;
    runpodctl: SdkProgram;
    /** Plugin of the vendor's Pulumi provider. */
    pulumiPlugin: SdkProgram;
    /** The Pulumi CLI, if there is the plugin. */
    cli: Cli;
    /** By version. */
    mcpServers: Record<string, SdkMcpServer>;
  }
}

const sdk = `runpod==${versions.pythonSdk}`;
const flash = `runpod-flash==${versions.flash}`;
const cache = new URL("../../.serverless-compute/", import.meta.url);

/** Prepares Python with packages in full runs; default: the public SDK. A failure is returned, so that only tests that need Python fail. */
export async function findPython(name = sdk, ...others: string[]): Promise<SdkProgram> {
  if (!process.env["FULL"]) return { missing: "only full runs use Python" };
  const folder = fileURLToPath(new URL(`python-${name.replace("==", "-")}`, cache));
  try {
    return { path: await pythonWith([name, ...others], folder) };
  } catch (error) {
    const why = `no Python with ${name} could be made here: ${error instanceof Error ? error.message : error}`;
    return error instanceof ToolMissing ? { missing: why } : { failure: why };
  }
}

/** Installs a version of the MCP server from the registry once; later runs find it. Its install scripts do not run. */
async function findMcpServer(version: string): Promise<SdkMcpServer> {
  const folder = fileURLToPath(new URL(`mcp-server-${version}`, cache));
  const path = join(folder, "node_modules/@runpod/mcp-server/dist/stdio.mjs");
  const install = async (): Promise<void> => {
    if (existsSync(path)) return;
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", folder];
    await mkdir(folder, { recursive: true });
    await succeed("npm", ["install", ...flags, `@runpod/mcp-server@${version}`]);
  };
  try {
    if (!existsSync(path)) await withLock(`${folder}.lock`, install);
    return { path, folder };
  } catch (error) {
    return { failure: `the MCP server could not be installed: ${error instanceof Error ? error.message : error}` };
  }
}

/** Programs in Go, by the commit of their version: the tags do not have the form that Go requires of the modules' paths. */
const goPrograms = {
  runpodctl: {
    package: "github.com/runpod/runpodctl@309512b4926eb7d218bbc8a8f11d380ce54f59c4",
    /** Variable with the path of a program that was built elsewhere, for machines whose module proxy does not provide the module. */
    variable: "RUNPODCTL",
  },
  "pulumi-resource-runpod": {
    package:
      "github.com/runpod/pulumi-runpod/provider/cmd/pulumi-resource-runpod@8a7e9d4a67670f85413e21621808596216d509a4",
    variable: "PULUMI_RESOURCE_RUNPOD",
  },
} as const;

/** Builds a program from its Go module once; later runs find it. */
async function findGoProgram(name: keyof typeof goPrograms): Promise<SdkProgram> {
  const { package: source, variable } = goPrograms[name];
  const given = process.env[variable];
  if (given) return { path: given };
  const folder = fileURLToPath(new URL(`${name}-${source.slice(-12)}`, cache));
  const path = join(folder, name);
  const install = async (): Promise<SdkProgram> => {
    if (existsSync(path)) return { path };
    const env = { ...process.env, GOBIN: folder };
    const finished = await run("go", ["install", source], { env, timeout: 600_000 });
    if (finished.code === 0) return { path };
    if (/: (403|404|410) |not found|unknown revision/i.test(finished.stderr))
      return { missing: `the Go module proxy of this machine does not provide ${source.split("@", 1)}` };
    return { failure: `go install ${source} failed: ${lastLines(finished)}` };
  };
  try {
    await mkdir(folder, { recursive: true });
    return await withLock(`${folder}.lock`, install);
  } catch (error) {
    if (isNotFound(error)) return { missing: "there is no `go` on PATH" };
    throw error;
  }
}

/** Prepares the clients of full runs; the clients in JavaScript are among the repository's packages. */
export async function setup(project: TestProject): Promise<void> {
  project.provide("python", await findPython());
  if (!process.env["FULL"]) return;
  project.provide("flash", await findPython(flash, sdk));
  project.provide("dstack", await findPython(`dstack==${versions.dstack}`));
  project.provide("runpodctl", await findGoProgram("runpodctl"));
  const plugin = await findGoProgram("pulumi-resource-runpod");
  project.provide("pulumiPlugin", plugin);
  if ("path" in plugin) project.provide("cli", await findCli());
  const { mcpServer, mcpServer3 } = versions;
  project.provide("mcpServers", {
    [mcpServer]: await findMcpServer(mcpServer),
    [mcpServer3]: await findMcpServer(mcpServer3),
  });
}

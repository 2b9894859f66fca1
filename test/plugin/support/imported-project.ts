import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Run, Stack } from "../../support/pulumi";
import type { RecordingProxy } from "../../support/recording-proxy";

/** Result of an import of an account as a user runs it. */
interface ImportedProject {
  report: { resources: { name: string }[]; config: string[]; skipped: unknown[] };
  /** Number of requests of `serverless-compute import`. */
  requests: number;
  preview: Run;
  /** Folder of the new project. */
  folder: string;
}

/** Gives a project a stand-in for the Node SDK of the plugin. */
async function installSdk(project: string): Promise<void> {
  const sdk = join(project, "node_modules", "pulumi-serverless-compute-sdk");
  await mkdir(sdk, { recursive: true });
  const classes = fileURLToPath(new URL("resources.cjs", import.meta.url));
  await writeFile(join(sdk, "index.js"), `module.exports = require(${JSON.stringify(classes)});\n`);
}

let count = 0;

/**
 * Imports the account of a stack's environment into a new project, then into a new stack of that project. `install` installs the
 * packages of the project; by default the Node SDK.
 */
export async function importProject(
  stack: Stack,
  language: string,
  environment: Record<string, string>,
  proxy: RecordingProxy,
  install: (folder: string) => Promise<void> = installSdk,
): Promise<ImportedProject> {
  const name = `imported-${++count}`;
  proxy.clear();
  const { code, stdout, stderr } = await stack.tool(
    ["import", "--out", name, "--language", language, "--json"],
    environment,
  );
  const requests = proxy.requests.length;
  expect(code, stderr).toBe(0);
  const report: ImportedProject["report"] = JSON.parse(stdout);
  const folder = join(stack.folder, "program", name);
  await install(folder);
  const env = { ...environment, PULUMI_NODEJS_TRANSPILE_ONLY: "true" };
  const pulumi = async (...args: string[]): Promise<Run> => {
    const run = await stack.command([...args, "--cwd", folder], { env });
    return run;
  };
  await pulumi("stack", "init", "dev");
  const values = report.config.flatMap((key) => ["--secret", `${key}=unused`]);
  if (values.length > 0) await pulumi("config", "set-all", ...values);
  const imported = await pulumi(
    "import",
    "--file",
    "import.json",
    "--yes",
    "--skip-preview",
    "--protect=false",
    "--generate-code=false",
  );
  expect(imported.output).not.toContain("warning");
  return { report, requests, folder, preview: await pulumi("preview", "--expect-no-changes") };
}

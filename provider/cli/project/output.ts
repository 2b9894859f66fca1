import { createRequire } from "node:module";
import { basename, resolve } from "node:path";
import { typePrefixes } from "../state";
import { exitCodes, type Terminal } from "../terminal";
import { writeFolder } from "./folder";
import { goProject } from "./go";
import { hyphenate } from "./identifiers";
import { type AccountObject, programOf } from "./program";
import { pluginFolder } from "./project";
import { pythonProject } from "./python";
import { type Report, reportText } from "./report";
import { typescriptProject } from "./typescript";
import { yamlProject } from "./yaml";

/** Writers of projects by language. */
const projects = { typescript: typescriptProject, yaml: yamlProject, python: pythonProject, go: goProject };

/** Options of a command that writes a project. */
export interface ProjectFlags {
  /** Folder of the new project. */
  out: string;
  language: keyof typeof projects;
  json?: boolean | undefined;
}

/** Writes a project with the objects and the file for `pulumi import`, and prints the report. Returns the exit code. */
export async function writeProject(
  objects: readonly AccountObject[],
  { settings, ...omissions }: Pick<Report, "settings" | "skipped" | "noCounterpart">,
  flags: ProjectFlags,
  io: Terminal,
): Promise<number> {
  const program = programOf(objects);
  const resources = program.resources.map(({ kind, name, id }) => ({ type: typePrefixes.plugin + kind, name, id }));
  const { version }: { version: string } = createRequire(__filename)("pulumi-serverless-compute/package.json");
  const name = hyphenate(basename(resolve(flags.out))) || "imported";
  const project = { name, version, plugin: pluginFolder(flags.out) };
  await writeFolder(flags.out, {
    ...projects[flags.language](program, project),
    "import.json": `${JSON.stringify({ resources }, null, 2)}\n`,
  });
  const report = {
    folder: flags.out,
    language: flags.language,
    resources,
    config: program.config,
    settings,
    ...omissions,
  };
  io.out(flags.json ? JSON.stringify(report, null, 2) : reportText(report));
  return omissions.skipped.length + omissions.noCounterpart.length > 0 ? exitCodes.attention : 0;
}

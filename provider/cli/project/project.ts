import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { scalarText } from "./text-layout";

/** A generated project. */
export interface Project {
  name: string;
  /** Version of this package, and so of the plugin. */
  version: string;
  /** Folder of the plugin, relative to the project. */
  plugin: string;
}

const pluginPath = join("node_modules", "pulumi-serverless-compute", "bin");

/** Folder of the plugin of the nearest folder that has the package, as npm resolves it; by default the project's own. */
export function pluginFolder(project: string): string {
  const projectFolder = resolve(project);
  const folders = [projectFolder];
  for (let folder = projectFolder; folder !== dirname(folder); folder = dirname(folder)) folders.push(dirname(folder));
  const packageFolder = folders.find((folder) => existsSync(join(folder, pluginPath))) ?? projectFolder;
  return relative(projectFolder, join(packageFolder, pluginPath)).replaceAll("\\", "/");
}

/**
 * Pulumi.yaml of a project with the plugin from the npm package. `runtime` may have several lines. The engine reports a missing
 * value of `secrets` before it starts the program.
 */
export const pulumiYaml = ({ name, version, plugin }: Project, runtime: string, secrets: readonly string[]): string =>
  `name: ${scalarText(name)}
runtime:${runtime}
${secrets.length === 0 ? "" : "config:\n"}${secrets.map((key) => `  ${key}: { type: string, secret: true }\n`).join("")}plugins:
  providers:
    - name: serverless-compute
      path: ${plugin}
      version: ${version}
`;

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../../scripts/child.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const compiler = join(root, "node_modules", "typescript-native", "bin", "tsc");

/**
 * Compiles files of `folder`, which is outside the repository, under the repository's compiler options. Returns the
 * errors, one a line, with paths relative to the folder. Modules resolve to the repository's packages or to the paths
 * in `modules`; errors outside the folder are ignored. Of JavaScript, only the syntax is checked.
 */
export async function typeFaults(folder: string, files: string[], modules: Record<string, string>): Promise<string[]> {
  const paths = Object.entries({ "@pulumi/pulumi": join(root, "node_modules", "@pulumi", "pulumi"), ...modules });
  const compilerOptions = {
    composite: false,
    declaration: false,
    noEmit: true,
    allowJs: true,
    module: "esnext",
    moduleResolution: "bundler",
    isolatedModules: false,
    typeRoots: [join(root, "node_modules", "@types")],
    paths: Object.fromEntries(paths.map(([name, path]) => [name, [path]])),
  };
  const configuration = { extends: join(root, "tsconfig.base.json"), compilerOptions, files };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(configuration));
  const { stdout } = await run(process.execPath, [compiler, "--pretty", "false"], { cwd: folder });
  return stdout.split("\n").filter((line) => /^\S+\(\d+,\d+\): error|^error /.test(line) && !line.startsWith(".."));
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Type errors in files outside the repository, under the repository's compiler options. Modules resolve to the
 * repository's packages or to the paths in `modules`.
 */
export function typeFaults(files: string[], modules: Record<string, string>): string {
  const text = readFileSync(join(root, "tsconfig.base.json"), "utf8");
  const { compilerOptions } = ts.parseConfigFileTextToJson("tsconfig.base.json", text).config;
  const paths = Object.entries({ "@pulumi/pulumi": join(root, "node_modules", "@pulumi", "pulumi"), ...modules });
  const { options } = ts.convertCompilerOptionsFromJson(
    {
      ...compilerOptions,
      composite: false,
      incremental: false,
      declaration: false,
      declarationMap: false,
      sourceMap: false,
      noEmit: true,
      module: "esnext",
      moduleResolution: "bundler",
      isolatedModules: false,
      typeRoots: [join(root, "node_modules", "@types")],
      paths: Object.fromEntries(paths.map(([name, path]) => [name, [path]])),
    },
    root,
  );
  const program = ts.createProgram(files, options);
  const checkedFiles = new Set(files);
  // Errors within the modules are ignored.
  const faults = ts.getPreEmitDiagnostics(program).filter(({ file }) => !file || checkedFiles.has(file.fileName));
  return ts.formatDiagnostics(faults, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => root,
    getNewLine: () => "\n",
  });
}

import ts from "typescript";

/**
 * Compilers: this TypeScript version and the previous one, by folder in the room. Checking the types of every library
 * takes longest, so only one compiler does this.
 */
export const compilers = [
  { folder: "typescript", version: "6.0.3", checksLibraries: true },
  { folder: "typescript-5.9", version: "5.9.3", checksLibraries: false },
];

/** A module resolution of the compiler, and the files compiled with it. */
export const resolutions = [
  {
    resolution: "node16",
    module: "node16",
    readme: (text: string) => ({ "readme.mts": text, "readme.cts": text }),
    provider: "provider.cts",
    clients: "clients.mts",
  },
  {
    resolution: "bundler",
    module: "esnext",
    readme: (text: string) => ({ "readme.ts": text }),
    provider: "provider.ts",
    clients: "clients.ts",
  },
  {
    resolution: "node10",
    module: "esnext",
    readme: (text: string) => ({ "readme-node10.ts": text }),
    provider: "provider-node10.ts",
    clients: "clients-node10.ts",
  },
];

/** The compilers that check a resolution. The newer ones reject `node10` as deprecated. */
export const compilersOf = (resolution: string): typeof compilers =>
  resolution === "node10" ? [{ folder: "typescript-5.9", version: "5.9.3", checksLibraries: true }] : compilers;

/** Variants of the README's program, by file. The first is deployed; the others change nothing. */
export const forms = [
  { file: "index.ts", module: undefined },
  { file: "program.mjs", module: ts.ModuleKind.ESNext },
  { file: "program.cjs", module: ts.ModuleKind.CommonJS },
];
/** The program in this variant. */
export const programAs = (text: string, module: ts.ModuleKind | undefined): string =>
  module === undefined ? text : ts.transpile(text, { module, target: ts.ScriptTarget.ES2022 });

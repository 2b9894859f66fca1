import { posix } from "node:path";
import type { Source } from "./sources";

/** Target of an import: a repository path for a relative specifier, otherwise the package name. */
export function goal(source: Source, specifier: string): string {
  return specifier.startsWith(".") ? posix.join(posix.dirname(source.path), specifier) : specifier;
}

/** The sources that a source imports by relative paths, types included. */
function importsAmong(sources: Source[]) {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  return (source: Source): Source[] =>
    source.imports
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => goal(source, specifier))
      .map((path) => byPath.get(path) ?? byPath.get(`${path}.ts`) ?? byPath.get(`${path}/index.ts`))
      .filter((needed) => needed !== undefined);
}

/** The longest chain of imports, types included, between the files and folders directly in a package. */
export function longestChain(sources: Source[]): string[] {
  const partOf = ({ path }: Source): string => path.split("/").slice(0, 2).join("/");
  const needs = importsAmong(sources);
  const below = new Map<string, Set<string>>();
  for (const source of sources) {
    const parts = below.get(partOf(source)) ?? new Set();
    for (const needed of needs(source)) if (partOf(needed) !== partOf(source)) parts.add(partOf(needed));
    below.set(partOf(source), parts);
  }
  const known = new Map<string, string[]>();
  const chainFrom = (part: string): string[] => {
    const found = known.get(part);
    if (found) return found;
    // A circle ends here: Biome reports it.
    known.set(part, []);
    const chains = [...(below.get(part) ?? [])].map(chainFrom);
    const chain = [part, ...(chains.sort((a, b) => b.length - a.length)[0] ?? [])];
    known.set(part, chain);
    return chain;
  };
  return [...below.keys()].map(chainFrom).sort((a, b) => b.length - a.length)[0] ?? [];
}

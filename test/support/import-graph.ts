import { posix } from "node:path";
import type { Source } from "./sources";

/** Target of an import: a repository path for a relative specifier, otherwise the package name. */
export function importTarget(source: Source, specifier: string): string {
  return specifier.startsWith(".") ? posix.join(posix.dirname(source.path), specifier) : specifier;
}

/** The sources that a source imports by relative paths, types included. */
function importsAmong(sources: Source[]) {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  return (source: Source): Source[] =>
    source.imports
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => importTarget(source, specifier))
      .map((path) => byPath.get(path) ?? byPath.get(`${path}.ts`) ?? byPath.get(`${path}/index.ts`))
      .filter((imported) => imported !== undefined);
}

/** The longest chain of imports, types included, between the files and folders directly in a package. */
export function longestChain(sources: Source[]): string[] {
  const partOf = ({ path }: Source): string => path.split("/").slice(0, 2).join("/");
  const importsOf = importsAmong(sources);
  const importsByPart = new Map<string, Set<string>>();
  for (const source of sources) {
    const parts = importsByPart.get(partOf(source)) ?? new Set();
    for (const imported of importsOf(source)) if (partOf(imported) !== partOf(source)) parts.add(partOf(imported));
    importsByPart.set(partOf(source), parts);
  }
  const knownChains = new Map<string, string[]>();
  const chainFrom = (part: string): string[] => {
    const knownChain = knownChains.get(part);
    if (knownChain) return knownChain;
    // A cycle ends here, because Biome reports it.
    knownChains.set(part, []);
    const chains = [...(importsByPart.get(part) ?? [])].map(chainFrom);
    const chain = [part, ...(chains.sort((a, b) => b.length - a.length)[0] ?? [])];
    knownChains.set(part, chain);
    return chain;
  };
  return [...importsByPart.keys()].map(chainFrom).sort((a, b) => b.length - a.length)[0] ?? [];
}

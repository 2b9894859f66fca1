import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { cachePlace, readCache, writeCache } from "./code-cache";

/** Saves unsaved caches; the later it is called, the more of the executed code is in the cache. */
type KeepCache = (keep: () => void) => void;

/** Milliseconds after the start when a missing code cache is made: the engine's first calls go before. */
const calmAfter = 150;
const whenCalm: KeepCache = (keep) => void setTimeout(keep, calmAfter).unref();

/**
 * Runs a bundled file and returns its exports. Compiling it takes longer than everything else at the start, so it
 * is compiled from a code cache. The cache is rebuilt if this version of Node rejects the existing one. Files that it
 * requires from its own folder are bundled files too.
 */
export function runBundle(bundle: string, onMissingCache = whenCalm): object {
  // One byte per character: the bundle is plain ASCII.
  const source = readFileSync(bundle, "latin1");
  const place = cachePlace(bundle, source.slice(2, 66));
  const cachedData = readCache(place);
  const script = new Script(source, { filename: bundle, ...(cachedData ? { cachedData } : {}) });
  const run: unknown = script.runInThisContext();
  if (typeof run !== "function") throw new Error(`${bundle} is not a plugin bundle`);
  const folder = dirname(bundle);
  const others = new Map<string, object>();
  const requireFrom = (name: string): unknown => {
    if (!name.startsWith("./")) return require(name);
    const exports = others.get(name) ?? runBundle(join(folder, name), onMissingCache);
    others.set(name, exports);
    return exports;
  };
  const module: { exports: object } = { exports: {} };
  run(module.exports, requireFrom, module, bundle, folder);
  if (!cachedData || script.cachedDataRejected) onMissingCache(() => writeCache(place, script.createCachedData()));
  return module.exports;
}

/** Loads an export of a bundled file by name; an unexpected type means a damaged installation. */
export function loadPart<Part>(bundle: string, name: string, isPart: (value: unknown) => value is Part): Part {
  const part: unknown = Reflect.get(runBundle(bundle), name);
  if (isPart(part)) return part;
  throw new Error(`${bundle} is not a part of pulumi-serverless-compute`);
}

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { messageOf } from "../lifecycle/failures";
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

/**
 * Loads an export of a bundled file by name. Throws an error for the user if Node is older than the package's `engines`
 * or the installation is damaged.
 */
export function loadPart<Part>(bundle: string, name: string, isPart: (value: unknown) => value is Part): Part {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new Error(
      `pulumi-serverless-compute: requires Node 20.19 or later, found ${process.versions.node}; install a newer Node`,
    );
  }
  let part: unknown;
  try {
    part = Reflect.get(runBundle(bundle), name);
  } catch (thrown) {
    throw damaged(bundle, messageOf(thrown), thrown);
  }
  if (isPart(part)) return part;
  throw damaged(bundle, `it has no ${name}`);
}

const damaged = (bundle: string, reason: string, cause?: unknown): Error =>
  new Error(`pulumi-serverless-compute: ${bundle} cannot be loaded (${reason}); install the package again`, { cause });

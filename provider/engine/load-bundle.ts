import { messageOf } from "./error-text";

/**
 * Loads an export of a bundled file by name. Throws an error for the user if Node is older than the package's `engines`
 * or the installation is damaged.
 */
export function loadBundle<Part>(bundle: string, name: string, isPart: (value: unknown) => value is Part): Part {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new Error(
      `pulumi-serverless-compute: requires Node 20.19 or later, found ${process.versions.node}; install a newer Node`,
    );
  }
  let part: unknown;
  try {
    part = Reflect.get(require(bundle), name);
  } catch (thrown) {
    throw createLoadError(bundle, messageOf(thrown), thrown);
  }
  if (isPart(part)) return part;
  throw createLoadError(bundle, `it does not export ${name}`);
}

const createLoadError = (bundle: string, reason: string, cause?: unknown): Error =>
  new Error(`pulumi-serverless-compute: ${bundle} cannot be loaded (${reason}); reinstall the package`, { cause });

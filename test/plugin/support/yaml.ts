import { delimiter } from "node:path";
import { inject } from "vitest";
import { findHost } from "../../../scripts/cli/hosts.mjs";
import { createProgress } from "../../../scripts/progress.mjs";

/** Requirements of programs in YAML. */
interface Yaml {
  /** PATH for the engine's commands. */
  path: string;
  /** The missing tool, without which programs cannot run. */
  missing?: string;
}

/**
 * Finds or builds the language host of YAML. A missing tool is printed; a failing build is an error, which fails the test
 * file.
 */
export async function findYaml(): Promise<Yaml> {
  const { PATH = "" } = process.env;
  const host = await findHost("yaml", inject("cli"), { progress: createProgress() });
  if ("folder" in host) return { path: [host.folder, PATH].join(delimiter) };
  console.warn(`The tests of programs in YAML are skipped: ${host.reason}`);
  return { path: PATH, missing: host.reason };
}

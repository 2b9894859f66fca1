import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildExecutable } from "../../scripts/release/executable.mjs";
import setUpPlugin from "../plugin/setup";

/** Puts the executable where the installed package has its launcher, so that the plugin's tests start it instead. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let packed = "";
  const provided: Pick<TestProject, "provide"> = {
    provide: (key, value) => {
      if (key === "packed") packed = String(value);
      project.provide(key, value);
    },
  };
  const remove = await setUpPlugin(provided);
  try {
    await buildExecutable(join(packed, "node_modules", "pulumi-serverless-compute", "bin"));
  } catch (error) {
    await remove();
    throw error;
  }
  return remove;
}

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { createStack } from "../../support/pulumi";
import type { Way } from "../../ways/way";

/** Path of the plugin in Pulumi.yaml: the folder of the installed package. */
export const pluginFolder = (): string => join(inject("packed"), "node_modules", "pulumi-serverless-compute", "bin");

/** The plugin, started by the engine. */
export const pluginWay: Way = {
  module: fileURLToPath(new URL("resources.cjs", import.meta.url)),
  createStack: (environment, project) => createStack(environment, { ...project, plugin: pluginFolder() }),
  provider: (key) => `new sc.Provider("explicit", { apiKey: ${key}, callLimit: 60.5, maxInFlight: 4 })`,
  health: (id) => `{ endpointId: ${id} }`,
};

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadBundle } from "../engine/load-bundle";
import { type ImplementationBundle, main } from "./main";

/** Package version, inserted when the plugin is bundled (scripts/release/bundle-plugin.mjs). */
declare const packageVersion: string;

const isDeploymentPart = (value: unknown): value is ImplementationBundle =>
  typeof value === "object" && value !== null && "begin" in value && typeof value.begin === "function";

// Entry point under Node, which loads the parts from files in its own folder.
main({
  version: packageVersion,
  idleTimeout: 1000,
  schema: () => readFileSync(join(__dirname, "plugin-schema.json"), "utf8"),
  deployment: () => loadBundle(join(__dirname, "deployment.js"), "plugin", isDeploymentPart),
});

import { main } from "./main";

/** Package version, inserted when the executable is built (scripts/release/executable.mjs). */
declare const packageVersion: string;
/** Package schema as JSON, inserted with the version. */
declare const packageSchema: string;

// Entry point of the executable, which contains all parts.
main({
  version: packageVersion,
  // The engine caches the schema of an installed plugin, so it starts the executable only for deployments.
  // The deployment code loads while the engine connects.
  idleTimeout: 0,
  schema: () => packageSchema,
  deployment: () => require("./deployment.js").plugin,
});

import { main } from "./main";

/** Version of the package and its schema as JSON, put in when the executable is built (scripts/release/executable.mjs). */
declare const packageVersion: string;
declare const packageSchema: string;

// The entry of the executable: its parts are in the file itself.
main({
  version: packageVersion,
  // An installed plugin has a version, so the engine keeps its schema: whoever starts it deploys, and connects meanwhile.
  idleLimit: 0,
  schema: () => packageSchema,
  server: () => require("../protocol/grpc-server.js"),
  rest: () => require("./deployment.js").rest,
});

import { main } from "./main";

/** Version of the package and its schema as JSON, put in when the executable is built (scripts/release/executable.mjs). */
declare const packageVersion: string;
declare const packageSchema: string;

// The entry of the executable: its parts are in the file itself.
main({
  version: packageVersion,
  schema: () => packageSchema,
  server: () => require("./grpc-server.js"),
  rest: () => require("./plugin-rest.js").rest,
});

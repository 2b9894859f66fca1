import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runBundle } from "../engine/run-bundle";
import { main, type Rest } from "./main";

/** Version of the package, put in when the plugin is bundled (scripts/release/bundle-plugin.mjs). */
declare const packageVersion: string;

const isRest = (value: unknown): value is Rest =>
  typeof value === "object" && value !== null && "begin" in value && typeof value.begin === "function";

// The entry under Node: its parts are files beside it.
main({
  version: packageVersion,
  idleLimit: 1000,
  schema: () => readFileSync(join(__dirname, "plugin-schema.json"), "utf8"),
  server: () => require("./grpc-server.js"),
  rest: () => {
    const bundle = join(__dirname, "deployment.js");
    const exported = runBundle(bundle);
    if ("rest" in exported && isRest(exported.rest)) return exported.rest;
    throw new Error(`${bundle} is not a part of the plugin`);
  },
});

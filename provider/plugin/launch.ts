import { writeSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";

/** What the bundle offers: it serves the connections of a server that listens already (serve.ts). */
interface Bundle {
  serve(listener: Server): void;
}

/**
 * Runs the bundled plugin in this process. The engine waits for the port and then connects, so the port is opened and
 * printed before anything else is loaded. The bundle is loaded in the same turn: a connection that comes meanwhile waits
 * in the system's queue and finds the calls in place.
 */
export function launch(bundle = join(__dirname, "..", "plugin.js")): void {
  const listener = createServer({ noDelay: true });
  listener.once("error", ({ message }) => {
    process.stderr.write(`pulumi-resource-serverless-compute cannot listen on loopback: ${message}\n`);
    process.exit(1);
  });
  const opened = () => {
    const address = listener.address();
    if (address === null || typeof address === "string") throw new Error("a listening server has a port");
    // The engine reads the port from the first line and nothing else may be printed there.
    writeSync(1, `${address.port}\n`);
    const { runBundle }: typeof import("./run-bundle") = require("./run-bundle.js");
    const exports = runBundle(bundle);
    if (!isBundle(exports)) throw new Error(`${bundle} is not a plugin bundle`);
    exports.serve(listener);
  };
  listener.listen(0, "127.0.0.1", opened);
}

function isBundle(exports: object): exports is Bundle {
  return "serve" in exports && typeof exports.serve === "function";
}

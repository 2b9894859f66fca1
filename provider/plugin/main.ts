import { writeSync } from "node:fs";
import { createServer, type Server } from "node:net";
import type { Call } from "../protocol/grpc-server";
import { flag, message, text } from "../protocol/protobuf";

/** Calls that concern a deployment. The service has more; for those that are missing here the provider has nothing. */
const deploymentCalls = [
  ...(["CheckConfig", "DiffConfig", "Configure", "Construct", "Invoke", "Cancel"] as const),
  ...(["Check", "Diff", "Create", "Read", "Update", "Delete", "List"] as const),
] as const;
type DeploymentCall = (typeof deploymentCalls)[number];
export type DeploymentCalls = Readonly<Record<DeploymentCall, Call>>;

/** The rest of the provider, which takes longer to load than everything here. */
export interface Rest {
  /** Begins to serve at `listener` for the engine at an address. */
  begin(listener: Server, engineAddress: () => string | undefined): DeploymentCalls;
}

/** Source of the plugin's parts: files next to the running one, or the executable itself. */
export interface Parts {
  version: string;
  /** The package schema as JSON. */
  schema(): string;
  rest(): Rest;
  server(): typeof import("../protocol/grpc-server");
  /** Milliseconds without requests after which the process loads the rest, which monitors the engine's process. */
  idleLimit: number;
}

const handshakeResponse = message({ acceptSecrets: flag(1), supportsAutonaming: flag(4) });
const pluginInfo = message({ version: text(1) });
const attachRequest = message({ address: text(1) });
const schemaResponse = message({ schema: text(1) });
const nothing = Buffer.alloc(0);

const service = "/pulumirpc.ResourceProvider/";

/**
 * Serves the provider. The engine waits for the port and then connects, so the port is opened and printed before anything
 * else. Some of its processes are only asked for the schema, and killed: those never load the resources. A process that
 * is to deploy gets a handshake first.
 */
export function main({ version, schema, rest, server, idleLimit }: Parts): void {
  let engineAddress = process.argv.slice(2).find((word) => !word.startsWith("-"));
  let calls: DeploymentCalls | undefined;
  const load = (): DeploymentCalls => {
    calls ??= rest().begin(listener, () => engineAddress);
    return calls;
  };
  /**
   * Loads the rest without a call that could report a failure. After a failure the process ends with the engine's
   * connection: the engine presents an earlier exit as a bug in the provider, with the process's output.
   */
  const loadAhead = (): DeploymentCalls | undefined => {
    try {
      return load();
    } catch {
      if (listener.listening) listener.close(() => process.exit(1));
      return undefined;
    }
  };
  const early: Record<string, Call> = {
    Handshake: () => {
      setImmediate(loadAhead);
      return handshakeResponse.encode({ acceptSecrets: true, supportsAutonaming: true });
    },
    GetPluginInfo: () => pluginInfo.encode({ version }),
    GetSchema: () => schemaResponse.encode({ schema: schema() }),
    /** The engine's address, when a debugger started this process instead of the engine. */
    Attach: (request) => {
      engineAddress = attachRequest.decode(request).address;
      return nothing;
    },
  };
  const callAt = (path: string): Call | undefined => {
    if (!path.startsWith(service)) return undefined;
    const name = path.slice(service.length);
    // The engine sends Cancel before it ends this process, even if nothing could be loaded.
    if (name === "Cancel") return loadAhead()?.Cancel ?? (() => nothing);
    const known = deploymentCalls.find((one) => one === name);
    return known ? load()[known] : Object.hasOwn(early, name) ? early[name] : undefined;
  };

  const listener = createServer({ noDelay: true });
  listener.once("error", ({ message }) => {
    process.stderr.write(
      `pulumi-resource-serverless-compute: cannot listen on 127.0.0.1 (${message}); allow connections on loopback\n`,
    );
    process.exit(1);
  });
  listener.listen(0, "127.0.0.1", () => {
    const address = listener.address();
    if (address === null || typeof address === "string") throw new Error("a listening server has a port");
    // The engine reads the port from the first line and nothing else may be printed there.
    writeSync(1, `${address.port}\n`);
    // In the same turn: a connection that comes meanwhile waits in the system's queue and finds the calls in place.
    server().serveCalls(listener, callAt);
    setTimeout(loadAhead, idleLimit);
  });
}

import { writeSync } from "node:fs";
import { createServer, type Server } from "node:net";
import type { Call } from "../engine/grpc-server";
import { flag, message, text } from "../engine/protobuf";

/** Calls of the engine that belong to a deployment. Calls of Pulumi's service that are missing from this file are unimplemented. */
const deploymentCalls = [
  ...(["CheckConfig", "DiffConfig", "Configure", "Construct", "Invoke", "Cancel"] as const),
  ...(["Check", "Diff", "Create", "Read", "Update", "Delete", "List"] as const),
] as const;
type DeploymentCall = (typeof deploymentCalls)[number];
/** Handlers of the deployment calls. */
export type DeploymentCalls = Readonly<Record<DeploymentCall, Call>>;

/** Main part of the provider, loaded on demand because loading it takes longer than loading everything in this file. */
export interface ImplementationBundle {
  /** Starts serving the engine at `engineAddress` through `listener`. */
  begin(listener: Server, engineAddress: () => string | undefined): DeploymentCalls;
}

/** Loaders of the plugin's parts, from files next to the running file or from the executable itself. */
export interface Parts {
  version: string;
  /** The package schema as JSON. */
  schema(): string;
  deployment(): ImplementationBundle;
  /** Delay (ms) after which the process loads the deployment code even without a request; that code monitors the engine's process. */
  idleTimeout: number;
}

const handshakeResponse = message({ acceptSecrets: flag(1), supportsAutonaming: flag(4) });
const pluginInfo = message({ version: text(1) });
const attachRequest = message({ address: text(1) });
const schemaResponse = message({ schema: text(1) });
const emptyReply = Buffer.alloc(0);

const service = "/pulumirpc.ResourceProvider/";

/**
 * Serves the provider. The engine waits for the port before it connects, so the port is opened and printed first. The engine
 * starts some processes only to read the schema, then kills them; these never load the resources. Before a deployment it sends
 * a handshake.
 */
export function main({ version, schema, deployment, idleTimeout }: Parts): void {
  let engineAddress = process.argv.slice(2).find((argument) => !argument.startsWith("-"));
  let calls: DeploymentCalls | undefined;
  const load = (): DeploymentCalls => {
    calls ??= deployment().begin(listener, () => engineAddress);
    return calls;
  };
  /**
   * Loads the deployment code when no call can report a failure. After a failure, the process exits once the engine's connection is
   * closed: the engine reports an earlier exit as a bug in the provider, together with the process's output.
   */
  const preload = (): DeploymentCalls | undefined => {
    try {
      return load();
    } catch {
      if (listener.listening) listener.close(() => process.exit(1));
      return undefined;
    }
  };
  const immediateCalls: Record<string, Call> = {
    Handshake: () => {
      setImmediate(preload);
      return handshakeResponse.encode({ acceptSecrets: true, supportsAutonaming: true });
    },
    GetPluginInfo: () => pluginInfo.encode({ version }),
    GetSchema: () => schemaResponse.encode({ schema: schema() }),
    /** Receives the engine's address if a debugger, not the engine, started this process. */
    Attach: (request) => {
      engineAddress = attachRequest.decode(request).address;
      return emptyReply;
    },
  };
  const callAt = (path: string): Call | undefined => {
    if (!path.startsWith(service)) return undefined;
    const name = path.slice(service.length);
    // The engine sends Cancel before it ends this process, even after a failed load.
    if (name === "Cancel") return preload()?.Cancel ?? (() => emptyReply);
    const deploymentCall = deploymentCalls.find((call) => call === name);
    return deploymentCall
      ? load()[deploymentCall]
      : Object.hasOwn(immediateCalls, name)
        ? immediateCalls[name]
        : undefined;
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
    // The engine reads the port from the first line, which must contain nothing else.
    writeSync(1, `${address.port}\n`);
    // In the same turn of the event loop, so that the calls are registered before the first connection is accepted.
    // Loaded after the port is printed, because the engine waits for the port.
    const { serveCalls }: typeof import("../engine/grpc-server") = require("../engine/grpc-server.js");
    serveCalls(listener, callAt);
    setTimeout(preload, idleTimeout);
  });
}

import type { Server as Listener } from "node:net";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { obeyEngine } from "../engine/cancellation";
import { createHost } from "../engine/host";
import { kinds } from "../resources";
import { resourceProviderService } from "./service";

/** Version and schema of the package, put in when the plugin is bundled (scripts/release/bundle-plugin.mjs). */
declare const packageVersion: string;
declare const packageSchemaText: string;

/** The engine sends whole states at once. */
const longestMessage = 400 * 1024 * 1024;

/**
 * Serves the provider's calls on the connections of a server that listens already: the bundle's entry. The engine hands
 * its own address to the process that it starts.
 */
export function serve(listener: Listener): void {
  let engineAddress = process.argv.slice(2).find((word) => !word.startsWith("-"));
  const host = createHost(() => engineAddress);
  obeyEngine(host.cancellation, engineAddress);
  const server = new Server({
    "grpc.max_receive_message_length": longestMessage,
    "grpc.max_send_message_length": longestMessage,
  });
  server.addService(
    ResourceProviderService,
    resourceProviderService({
      host,
      lifecycles: kinds,
      version: packageVersion,
      schema: packageSchemaText,
      attach: (address) => {
        engineAddress = address;
      },
    }),
  );
  const connections = server.createConnectionInjector(ServerCredentials.createInsecure());
  listener.on("connection", (connection) => connections.injectConnection(connection));
}

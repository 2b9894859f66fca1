import type { Server } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { obeyEngine } from "../engine/cancellation";
import { createHost } from "../engine/host";
import { kinds } from "../lifecycle/kinds";
import { resourceProviderService } from "./service";

/** Version and schema of the package, put in when the plugin is bundled (scripts/bundle-plugin.mjs). */
declare const packageVersion: string;
declare const packageSchemaText: string;

/** Gives a server the provider's calls. The engine hands its own address to the process that it starts. */
export function serve(server: Server): void {
  let engineAddress = process.argv.slice(2).find((word) => !word.startsWith("-"));
  const host = createHost(() => engineAddress);
  obeyEngine(host.cancellation);
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
}

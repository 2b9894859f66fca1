import type { UntypedServiceImplementation } from "@grpc/grpc-js";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import { GetSchemaResponse, ProviderHandshakeResponse } from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import type { Host } from "../engine/host";
import type { Lifecycle } from "../lifecycle/contract";
import { answering, unimplemented } from "./calls";
import { configCalls } from "./config-calls";
import { lookUpCalls } from "./look-up-calls";
import { resourceCalls } from "./resource-calls";

export interface ServiceParts {
  host: Host;
  lifecycles: Readonly<Record<string, Lifecycle>>;
  version: string;
  /** The package schema as JSON. */
  schema: string;
  /** Takes the engine's address when a debugger started this process instead of the engine. */
  attach(address: string): void;
}

/** Pulumi's ResourceProvider service over the lifecycles: a table of its calls. */
export function resourceProviderService(parts: ServiceParts): UntypedServiceImplementation {
  const config = configCalls(parts.host);
  const resource = resourceCalls(parts.host, parts.lifecycles);
  return {
    handshake: answering(() => {
      const response = new ProviderHandshakeResponse();
      response.setAcceptSecrets(true);
      response.setSupportsAutonamingConfiguration(true);
      return response;
    }),
    getPluginInfo: answering(() => {
      const info = new PluginInfo();
      info.setVersion(parts.version);
      return info;
    }),
    attach: answering((request: { getAddress(): string }) => {
      parts.attach(request.getAddress());
      return new Empty();
    }),
    getSchema: answering(() => {
      const response = new GetSchemaResponse();
      response.setSchema(parts.schema);
      return response;
    }),
    checkConfig: answering(config.checkConfig),
    diffConfig: answering(config.diffConfig),
    configure: answering(config.configure),
    check: answering(resource.check),
    diff: answering(resource.diff),
    create: answering(resource.create),
    read: answering(resource.read),
    update: answering(resource.update),
    delete: answering(resource.delete),
    cancel: answering(() => {
      parts.host.cancellation.cancel();
      return new Empty();
    }),
    invoke: answering(lookUpCalls(parts.host).invoke),
    call: unimplemented("Call"),
    construct: unimplemented("Construct"),
    parameterize: unimplemented("Parameterize"),
    list: unimplemented("List"),
    getMapping: unimplemented("GetMapping"),
    getMappings: unimplemented("GetMappings"),
  };
}

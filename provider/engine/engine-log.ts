import { Client, credentials } from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";

/** Shows texts on a resource's own line. Never fails: a text that cannot be shown must not stop a deployment. */
export interface EngineLog {
  /** What goes on at this moment; the next text takes its place, and it is gone at the end. */
  progress(urn: string, text: string): void;
  /** Stays, and is listed under Diagnostics. */
  warning(urn: string, text: string): void;
}

/**
 * Speaks to the engine at `address`. It goes through our own grpc and the service's definition alone, not the SDK's
 * client class, which refuses credentials of another copy of grpc.
 */
export function createEngineLog(address: string): EngineLog {
  const client = new Client(address, credentials.createInsecure());
  const { path, requestSerialize, responseDeserialize } = EngineService.log;
  const send = (
    urn: string,
    text: string,
    severity: LogRequest["getSeverity"] extends () => infer S ? S : never,
  ): void => {
    const request = new LogRequest();
    request.setUrn(urn);
    request.setMessage(text);
    request.setSeverity(severity);
    request.setEphemeral(severity === LogSeverity.INFO);
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, () => {});
  };
  return {
    progress: (urn, text) => send(urn, text, LogSeverity.INFO),
    warning: (urn, text) => send(urn, text, LogSeverity.WARNING),
  };
}

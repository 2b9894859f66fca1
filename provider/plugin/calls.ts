import { Metadata, type ServerUnaryCall, type sendUnaryData, status } from "@grpc/grpc-js";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import { messageOf, ResourceFailure } from "../engine/failures";
import { structOf } from "./structs";

/** Turns an async function into a gRPC handler; whatever it throws becomes a response with a sentence. */
export function answering<Request, Response>(handle: (request: Request) => Promise<Response> | Response) {
  return (call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>): void => {
    const run = async (): Promise<Response> => handle(call.request);
    run().then(
      (response) => callback(null, response),
      (thrown: unknown) => callback(failure(thrown)),
    );
  };
}

function failure(thrown: unknown): { code: status; details: string; metadata?: Metadata } {
  const message = messageOf(thrown);
  const unfinished = thrown instanceof ResourceFailure ? thrown.unfinished : undefined;
  if (!unfinished) return { code: status.UNKNOWN, details: message };
  const kept = new ErrorResourceInitFailed();
  kept.setId(unfinished.id);
  kept.setProperties(structOf(unfinished.outputs));
  kept.setInputs(structOf(unfinished.inputs));
  kept.setReasonsList([message]);
  const packed = new Any();
  packed.pack(kept.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const detailed = new Status();
  detailed.setCode(status.UNKNOWN);
  detailed.setMessage(message);
  detailed.addDetails(packed);
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(detailed.serializeBinary()));
  return { code: status.UNKNOWN, details: message, metadata };
}

/** A call that this provider does not know. */
export function unimplemented<Request, Response>(name: string) {
  return (_call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>): void =>
    callback({ code: status.UNIMPLEMENTED, details: `${name} is not part of this provider` });
}

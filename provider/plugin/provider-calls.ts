import type { Lifecycle } from "../lifecycle/contract";
import { asReason, messageOf, ResourceFailure } from "../lifecycle/failures";
import type { Host } from "../process/host";
import { CallFailure, status } from "../protocol/grpc";
import type { Call, Reply } from "../protocol/grpc-server";
import * as messages from "../protocol/messages";
import type { Message } from "../protocol/protobuf";
import { configCalls } from "./config-calls";
import { construct } from "./construct";
import { listCalls } from "./list-calls";
import { lookupCalls } from "./lookup-calls";
import type { DeploymentCalls } from "./main";
import { resourceCalls } from "./resource-calls";

/** Implements the deployment calls of Pulumi's ResourceProvider service with the lifecycles. */
export function providerCalls(host: Host, lifecycles: Readonly<Record<string, Lifecycle>>): DeploymentCalls {
  const config = configCalls(host);
  const resource = resourceCalls(host, lifecycles);
  const cancel = () => {
    host.cancellation.cancel();
    return {};
  };
  return {
    CheckConfig: call(messages.checkRequest, messages.checkResponse, config.checkConfig),
    DiffConfig: call(messages.diffRequest, messages.diffResponse, config.diffConfig),
    Configure: call(messages.configureRequest, messages.configureResponse, config.configure),
    Construct: call(messages.constructRequest, messages.constructResponse, construct),
    Check: call(messages.checkRequest, messages.checkResponse, resource.check),
    Diff: call(messages.diffRequest, messages.diffResponse, resource.diff),
    Create: call(messages.createRequest, messages.createResponse, resource.create),
    Read: call(messages.readRequest, messages.readResponse, resource.read),
    Update: call(messages.updateRequest, messages.updateResponse, resource.update),
    Delete: call(messages.deleteRequest, messages.empty, resource.delete),
    Invoke: call(messages.invokeRequest, messages.invokeResponse, lookupCalls(host).invoke),
    List: call(messages.listRequest, streamOf(messages.listResponse), listCalls(host).list),
    Cancel: call(messages.empty, messages.empty, cancel),
  };
}

/** Wraps a handler of messages as a call on bytes; a thrown error becomes a CallFailure with its message. */
function call<Request, Response>(
  request: Message<Request>,
  response: { encode(value: Response): Reply },
  handle: (request: Request) => Promise<Response> | Response,
): Call {
  return async (bytes) => {
    try {
      return response.encode(await handle(request.decode(bytes)));
    } catch (thrown) {
      throw failure(thrown);
    }
  };
}

/** Encoder for a stream of messages, which are sent together. */
const streamOf = <Of>({ encode }: Message<Of>) => ({ encode: (all: readonly Partial<Of>[]) => all.map(encode) });

function failure(thrown: unknown): CallFailure {
  const message = messageOf(thrown);
  const unfinished = thrown instanceof ResourceFailure ? thrown.unfinished : undefined;
  if (!unfinished) return new CallFailure(status.unknown, message);
  const { id, outputs, inputs } = unfinished;
  const value = messages.initFailed.encode({ id, inputs, properties: outputs, reasons: [asReason(message)] });
  const details = [{ typeUrl: "type.googleapis.com/pulumirpc.ErrorResourceInitFailed", value }];
  return new CallFailure(
    status.unknown,
    message,
    messages.rpcStatus.encode({ code: status.unknown, message, details }),
  );
}

import { asReason, messageOf } from "../engine/error-text";
import { CallFailure, status } from "../engine/grpc";
import type { Call, Reply } from "../engine/grpc-server";
import * as messages from "../engine/messages";
import type { Message } from "../engine/protobuf";
import type { ResourceOperations } from "../framework/contract";
import { ResourceInitError } from "../framework/errors";
import type { ProviderProcess } from "../framework/process";
import { configCalls } from "./config-calls";
import { construct } from "./construct";
import { listCalls } from "./list-calls";
import { lookupCalls } from "./lookup-calls";
import type { DeploymentCalls } from "./main";
import { resourceCalls } from "./resource-calls";

/** Implements the deployment calls of Pulumi's ResourceProvider service with the table. */
export function providerCalls(
  providerProcess: ProviderProcess,
  table: Readonly<Record<string, ResourceOperations>>,
): DeploymentCalls {
  const config = configCalls(providerProcess);
  const resource = resourceCalls(providerProcess, table);
  const cancel = () => {
    providerProcess.cancellation.cancel();
    return {};
  };
  return {
    CheckConfig: wrapHandler(messages.checkRequest, messages.checkResponse, config.checkConfig),
    DiffConfig: wrapHandler(messages.diffRequest, messages.diffResponse, config.diffConfig),
    Configure: wrapHandler(messages.configureRequest, messages.configureResponse, config.configure),
    Construct: wrapHandler(messages.constructRequest, messages.constructResponse, (request) =>
      construct(request, providerProcess),
    ),
    Check: wrapHandler(messages.checkRequest, messages.checkResponse, resource.check),
    Diff: wrapHandler(messages.diffRequest, messages.diffResponse, resource.diff),
    Create: wrapHandler(messages.createRequest, messages.createResponse, resource.create),
    Read: wrapHandler(messages.readRequest, messages.readResponse, resource.read),
    Update: wrapHandler(messages.updateRequest, messages.updateResponse, resource.update),
    Delete: wrapHandler(messages.deleteRequest, messages.empty, resource.delete),
    Invoke: wrapHandler(messages.invokeRequest, messages.invokeResponse, lookupCalls(providerProcess).invoke),
    List: wrapHandler(messages.listRequest, streamOf(messages.listResponse), listCalls(providerProcess).list),
    Cancel: wrapHandler(messages.empty, messages.empty, cancel),
  };
}

/** Wraps a handler of messages as a call on bytes; a thrown error becomes a CallFailure with its message. */
function wrapHandler<Request, Response>(
  request: Message<Request>,
  response: { encode(value: Response): Reply },
  handler: (request: Request) => Promise<Response> | Response,
): Call {
  return async (bytes) => {
    try {
      return response.encode(await handler(request.decode(bytes)));
    } catch (thrown) {
      throw toCallFailure(thrown);
    }
  };
}

/** Encoder for a stream of messages, which are sent together. */
const streamOf = <Of>({ encode }: Message<Of>) => ({ encode: (values: readonly Partial<Of>[]) => values.map(encode) });

function toCallFailure(thrown: unknown): CallFailure {
  const message = messageOf(thrown);
  if (!(thrown instanceof ResourceInitError)) return new CallFailure(status.unknown, message);
  const { id, outputs, secretPaths } = thrown;
  const value = messages.initFailed.encode({
    id,
    properties: { properties: outputs, secretPaths },
    reasons: [asReason(message)],
  });
  const details = [{ typeUrl: "type.googleapis.com/pulumirpc.ErrorResourceInitFailed", value }];
  return new CallFailure(
    status.unknown,
    message,
    messages.rpcStatus.encode({ code: status.unknown, message, details }),
  );
}

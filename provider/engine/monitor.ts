import { connect } from "node:http2";
import { callUnary } from "./grpc-client";
import {
  empty,
  type Request,
  type Response,
  registerOutputsRequest,
  registerResourceRequest,
  registerResourceResponse,
} from "./messages";
import type { Message } from "./protobuf";

/** The resource that the engine returns for a registration. */
export type Registered = Request<typeof registerResourceResponse>;

/** The engine's resource monitor, which deploys the resources of a component. */
interface Monitor {
  /** Registers a resource; resolves when it is deployed, or planned in a preview. */
  register(resource: Response<typeof registerResourceRequest>): Promise<Registered>;
  /** Registers the outputs of a component. */
  registerOutputs(outputs: Response<typeof registerOutputsRequest>): Promise<unknown>;
  close(): void;
}

/** Connects to the monitor at `address` (host:port). */
export function connectMonitor(address: string): Monitor {
  const session = connect(`http://${address}`);
  // Each pending call rejects with its own error.
  session.on("error", () => session.destroy());
  const call = async <Sent, Received>(
    name: string,
    request: Message<Sent>,
    response: Message<Received>,
    values: Partial<Sent>,
  ): Promise<Received> =>
    response.decode(await callUnary(session, `/pulumirpc.ResourceMonitor/${name}`, request.encode(values)));
  return {
    register: (resource) =>
      call("RegisterResource", registerResourceRequest, registerResourceResponse, {
        ...resource,
        acceptSecrets: true,
        supportsPartialValues: true,
        aliasSpecs: true,
      }),
    registerOutputs: (outputs) => call("RegisterResourceOutputs", registerOutputsRequest, empty, outputs),
    close: () => session.destroy(),
  };
}

import { type ClientHttp2Session, connect } from "node:http2";
import { callUnary } from "./grpc-client";
import { count, flag, message, text } from "./protobuf";

/** Displays messages on a resource's line. Never rejects, because an undelivered message must not stop a deployment. */
export interface EngineLog {
  /** Shows the current activity until the next message or the end of the deployment. */
  progress(urn: string, text: string): void;
  /** Shows a permanent warning, which is also listed under Diagnostics; resolves when it has been sent. */
  warning(urn: string, text: string): Promise<void>;
}

const severities = { info: 1, warning: 2 } as const;
const logRequest = message({ severity: count(1), message: text(2), urn: text(3), ephemeral: flag(5) });

/** Creates a log that sends messages to the engine at `address` (host:port). */
export function createEngineLog(address: string): EngineLog {
  let session: ClientHttp2Session | undefined;
  const open = (): ClientHttp2Session => {
    const newSession = connect(`http://${address}`);
    newSession.on("error", () => newSession.destroy());
    // An undelivered message must not keep the process alive.
    newSession.unref();
    return newSession;
  };
  const send = async (request: Parameters<typeof logRequest.encode>[0]): Promise<void> => {
    try {
      if (session === undefined || session.closed || session.destroyed) session = open();
      await callUnary(session, "/pulumirpc.Engine/Log", logRequest.encode(request));
    } catch {
      // The address is invalid or the connection was closed; the message is dropped.
    }
  };
  return {
    progress: (urn, message) => void send({ urn, message, severity: severities.info, ephemeral: true }),
    warning: (urn, message) => send({ urn, message, severity: severities.warning }),
  };
}

import { type ClientHttp2Session, connect } from "node:http2";
import { callUnary } from "../protocol/grpc-client";
import { count, flag, message, text } from "../protocol/protobuf";

/** Shows texts on a resource's own line. Never fails: a text that cannot be shown must not stop a deployment. */
export interface EngineLog {
  /** Shows the current activity; the next text replaces it, and it disappears at the end. */
  progress(urn: string, text: string): void;
  /** Stays, and is listed under Diagnostics; resolves once it was sent. */
  warning(urn: string, text: string): Promise<void>;
}

const severities = { info: 1, warning: 2 } as const;
const logRequest = message({ severity: count(1), message: text(2), urn: text(3), ephemeral: flag(5) });

/** Speaks to the engine at `address` (host:port), which offers its Log call there. */
export function createEngineLog(address: string): EngineLog {
  let session: ClientHttp2Session | undefined;
  const open = (): ClientHttp2Session => {
    const opened = connect(`http://${address}`);
    opened.on("error", () => opened.destroy());
    // The result of a text is not awaited.
    opened.unref();
    return opened;
  };
  const send = async (request: Parameters<typeof logRequest.encode>[0]): Promise<void> => {
    try {
      if (session === undefined || session.closed || session.destroyed) session = open();
      await callUnary(session, "/pulumirpc.Engine/Log", logRequest.encode(request));
    } catch {
      // An invalid address, or a connection that ended at this moment.
    }
  };
  return {
    progress: (urn, message) => void send({ urn, message, severity: severities.info, ephemeral: true }),
    warning: (urn, message) => send({ urn, message, severity: severities.warning }),
  };
}

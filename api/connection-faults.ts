import { ApiError, type RequestInfo } from "./errors";

/** Codes of connection faults, by the error codes of Node and undici. */
const faultCodes: Record<string, string> = {
  ECONNREFUSED: "connection_refused",
  ENOTFOUND: "unknown_host",
  EAI_AGAIN: "unknown_host",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  UND_ERR_CONNECT_TIMEOUT: "connect_timeout",
  UND_ERR_CLOSED: "closed",
  UND_ERR_DESTROYED: "closed",
  UND_ERR_INVALID_ARG: "invalid_request",
  HTTPParserError: "not_http",
};

const certificateFault = /^(ERR_TLS|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|ERR_SSL|EPROTO)/;
/** Permanent faults, which are not retried. */
const permanentFaults = new Set(["tls", "not_tls", "not_http", "closed", "invalid_request"]);

function faultName(error: unknown): string {
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    if (current instanceof AggregateError && current.errors.length > 0) return faultName(current.errors[0]);
    // undici's parser sets no code. An early end is a broken connection, not another protocol.
    if (current.name === "HTTPParserError" && !/EOF/.test(current.message)) return "HTTPParserError";
    if ("code" in current && typeof current.code === "string") return current.code;
  }
  return "UNKNOWN";
}

/** Faults that may have occurred on either side of a proxy, if one is set. */
const proxyFaults = new Set([
  "connection_refused",
  "unknown_host",
  "unreachable",
  "connect_timeout",
  "connection_failed",
]);

/**
 * Converts a connection fault to an ApiError. `sent` is true if any part of the request was sent, `behindProxy` if a proxy may
 * be involved.
 */
export function classifyFault(error: unknown, request: RequestInfo, sent: boolean, behindProxy = false): ApiError {
  const fault = faultName(error);
  const message = error instanceof Error && error.message ? error.message : fault;
  const withoutTls = /wrong version number|packet length too long/.test(message);
  const knownCode = certificateFault.test(fault) ? (withoutTls ? "not_tls" : "tls") : faultCodes[fault];
  const directCode = knownCode ?? (sent ? "connection_lost" : "connection_failed");
  const code = behindProxy && proxyFaults.has(directCode) ? "proxied" : directCode;
  const refusedByProxy = code === "proxied" && /Proxy response \(4\d\d\)/.test(message);
  return new ApiError(
    message,
    { category: "network", code, request, retryable: !permanentFaults.has(code) && !refusedByProxy, ambiguous: sent },
    { cause: error },
  );
}

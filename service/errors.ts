/** Every error of the service: its HTTP status, its `type` and `code` at /openai, and the detail that clients of REST v2 know. */
interface ErrorKind {
  status: number;
  type: string;
  word: string;
  detail?: string;
}

/** REST v1 responds with 400 to everything that a client can correct (interface: Errors). */
const errorKinds = {
  invalid: { status: 400, type: "invalid_request_error", word: "invalid_request" },
  conflict: { status: 400, type: "invalid_request_error", word: "conflict" },
  inUse: { status: 400, type: "invalid_request_error", word: "in_use" },
  missingOnDelete: {
    status: 400,
    type: "invalid_request_error",
    word: "not_found",
    detail: "resource not found",
  },
  /** A request to a load balancer that no worker took in time; the hosted service documents the status. */
  noWorker: { status: 400, type: "server_error", word: "no_worker" },
  unauthorized: { status: 401, type: "authentication_error", word: "invalid_api_key" },
  forbidden: { status: 403, type: "permission_error", word: "forbidden" },
  missing: { status: 404, type: "invalid_request_error", word: "not_found", detail: "resource not found" },
  /** A path of REST v2 that has other methods. */
  methodNotAllowed: { status: 405, type: "invalid_request_error", word: "method_not_allowed" },
  /** The name of another object, in REST v2. */
  taken: { status: 409, type: "invalid_request_error", word: "conflict" },
  /** A request whose head or body did not arrive in time. */
  requestTimedOut: { status: 408, type: "invalid_request_error", word: "request_timeout" },
  /** The job of a call of /openai was cancelled, so there is no output. */
  jobCancelled: { status: 410, type: "invalid_request_error", word: "job_cancelled" },
  /** An API that the option `retire` turns off. */
  retired: { status: 410, type: "invalid_request_error", word: "gone" },
  tooLarge: { status: 413, type: "invalid_request_error", word: "request_too_large" },
  /** A request for a host that is not this service. */
  misdirected: { status: 421, type: "invalid_request_error", word: "misdirected" },
  /** A body without the shape that REST v2 describes; a broken rule is `invalid`. */
  unprocessable: {
    status: 422,
    type: "invalid_request_error",
    word: "invalid_request",
    detail: "Request validation failed.",
  },
  tooManyRequests: { status: 429, type: "rate_limit_error", word: "rate_limit_exceeded" },
  headersTooLarge: { status: 431, type: "invalid_request_error", word: "request_too_large" },
  jobFailed: { status: 500, type: "server_error", word: "job_failed" },
  internal: { status: 500, type: "server_error", word: "internal_error" },
  /** An ability of the hosted service that this one lacks. */
  unsupported: { status: 501, type: "invalid_request_error", word: "unsupported" },
  /** A worker of a load balancer that fails. */
  badGateway: { status: 502, type: "server_error", word: "bad_gateway" },
  starting: { status: 503, type: "server_error", word: "starting" },
  stopping: { status: 503, type: "server_error", word: "stopping" },
  /** The store is locked, or the data folder read-only. */
  storeUnavailable: { status: 503, type: "server_error", word: "store_unavailable" },
  jobTimedOut: { status: 504, type: "server_error", word: "job_timed_out" },
  /** The disk of the data folder is full. */
  storeFull: { status: 507, type: "server_error", word: "store_full" },
  /** A worker of a load balancer that exceeds the time limit; the hosted service documents the status. */
  processingTimedOut: { status: 524, type: "server_error", word: "processing_timed_out" },
} as const satisfies Record<string, ErrorKind>;

/** The stable name of an error. */
type ServiceErrorCode = keyof typeof errorKinds;

/** The table row of an error. */
export const errorKindOf = (code: ServiceErrorCode): ErrorKind => errorKinds[code];

/**
 * An error response: subject, problem and remedy. Rules throw it, and each API sends it in its own form. Its text contains no secret.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ServiceErrorCode;
  readonly status: number;
  /** Additional headers of the response, such as Retry-After. */
  readonly headers: Record<string, string>;
  /** The faults of a body, a sentence for each property. */
  readonly faults: readonly string[];

  constructor(
    code: ServiceErrorCode,
    message: string,
    headers: Record<string, string> = {},
    faults: readonly string[] = [],
  ) {
    super(message);
    this.code = code;
    this.status = errorKinds[code].status;
    this.headers = headers;
    this.faults = faults;
  }
}

/** The error for an absent object; clients search for "not found". */
export const notFound = (what: string, id: string): ServiceError =>
  new ServiceError("missing", `${what} "${id}" not found`);

/** The error for a delete of an absent object: 400 in REST v1 (interface: Errors). */
export const notFoundOnDelete = (what: string, id: string): ServiceError =>
  new ServiceError("missingOnDelete", `invalid ${what} id: ${what} "${id}" not found`);

/** The error for an unexpected failure, whose details are in the service's log only. */
export const internalError = (): ServiceError =>
  new ServiceError("internal", "internal server error: the service's log has the reason");

/** A failure of a command that the user can correct: one line, no stack. */
export class StartError extends Error {
  override readonly name = "StartError";
}

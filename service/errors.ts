/** What went wrong → the HTTP status that tells it. REST v1 says 400 for everything a client can mend (interface: Errors). */
const statusOf = {
  invalid: 400,
  conflict: 400,
  inUse: 400,
  missingOnDelete: 400,
  unauthorized: 401,
  forbidden: 403,
  missing: 404,
  /** A path of REST v2 that has other methods. */
  methodNotAllowed: 405,
  /** A name that another object has, in REST v2. */
  taken: 409,
  /** An operation that answers with a job's output, and there is none: /openai. */
  jobCancelled: 410,
  /** An API that is switched off by the option `retire`. */
  retired: 410,
  tooLarge: 413,
  /** A request for a host that is not this service. */
  misdirected: 421,
  /** A body that does not have the shape that REST v2 describes; a rule that it breaks is `invalid`. */
  unprocessable: 422,
  tooManyRequests: 429,
  jobFailed: 500,
  internal: 500,
  /** What the hosted service can do and this one cannot. */
  unsupported: 501,
  stopping: 503,
  /** The store is locked, or the data folder read-only. */
  storeUnavailable: 503,
  jobTimedOut: 504,
  /** The disk of the data folder is full. */
  storeFull: 507,
} as const;

/** A stable word for what went wrong. */
export type ServiceErrorCode = keyof typeof statusOf;

/**
 * An answer that tells the client what it did wrong: the subject, what happened, what is allowed.
 * Rules throw it; each door gives it the body of its own API. Its text never holds a secret.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ServiceErrorCode;
  readonly status: number;
  /** Extra headers of the answer, such as Retry-After. */
  readonly headers: Record<string, string>;
  /** What is wrong with a body, a sentence for each property. */
  readonly faults: readonly string[];

  constructor(
    code: ServiceErrorCode,
    message: string,
    headers: Record<string, string> = {},
    faults: readonly string[] = [],
  ) {
    super(message);
    this.code = code;
    this.status = statusOf[code];
    this.headers = headers;
    this.faults = faults;
  }
}

/** The words for an object that is not there; clients look for "not found". */
export const notFound = (what: string, id: string): ServiceError =>
  new ServiceError("missing", `${what} "${id}" not found`);

/** A delete of an absent object: 400 in the REST API (interface: Errors), the same words as ever. */
export const notFoundOnDelete = (what: string, id: string): ServiceError =>
  new ServiceError("missingOnDelete", `invalid ${what} id: ${what} "${id}" not found`);

/** A failure of a command, above all of the start, that the user can mend: one clear line, no stack. */
export class StartError extends Error {
  override readonly name = "StartError";
}

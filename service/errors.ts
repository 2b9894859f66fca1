/** APIs that the option `retire` turns off. */
export const retirableApis = ["v1", "graphql"] as const;
export type RetirableApi = (typeof retirableApis)[number];

interface ErrorKind {
  status: number;
  /** The `type` and `code` at /openai. */
  type: string;
  openaiCode: string;
  /** The detail that clients of REST v2 expect. */
  detail?: string;
}

/** The errors of the service. REST v1 responds with 400 to all errors that a client can correct (interface: Errors). */
const errorKinds = {
  invalid: { status: 400, type: "invalid_request_error", openaiCode: "invalid_request" },
  conflict: { status: 400, type: "invalid_request_error", openaiCode: "conflict" },
  inUse: { status: 400, type: "invalid_request_error", openaiCode: "in_use" },
  templateInUse: {
    status: 400,
    type: "invalid_request_error",
    openaiCode: "in_use",
    // Clients compare this exact text.
    detail: "Template is in use by a pod or serverless endpoint and cannot be deleted",
  },
  missingOnDelete: { status: 400, type: "invalid_request_error", openaiCode: "not_found" },
  /** A request to a load balancer found no worker in time; the hosted service documents the status. */
  noWorker: { status: 400, type: "server_error", openaiCode: "no_worker" },
  unauthorized: { status: 401, type: "authentication_error", openaiCode: "invalid_api_key" },
  forbidden: { status: 403, type: "permission_error", openaiCode: "forbidden" },
  missing: { status: 404, type: "invalid_request_error", openaiCode: "not_found", detail: "resource not found" },
  /** The path of REST v2 exists, but not with this method. */
  methodNotAllowed: { status: 405, type: "invalid_request_error", openaiCode: "method_not_allowed" },
  /** The name is already taken, in REST v2. */
  taken: { status: 409, type: "invalid_request_error", openaiCode: "conflict" },
  /** The head or body of the request did not arrive in time. */
  requestTimedOut: { status: 408, type: "invalid_request_error", openaiCode: "request_timeout" },
  /** The job of a call to /openai was cancelled, so there is no output. */
  jobCancelled: { status: 410, type: "invalid_request_error", openaiCode: "job_cancelled" },
  /** The API is turned off by the option `retire`. */
  retired: { status: 410, type: "invalid_request_error", openaiCode: "gone" },
  tooLarge: { status: 413, type: "invalid_request_error", openaiCode: "request_too_large" },
  /** The request is for another host. */
  misdirected: { status: 421, type: "invalid_request_error", openaiCode: "misdirected" },
  /** The body does not have the shape required by REST v2; a violated rule is `invalid`. */
  unprocessable: {
    status: 422,
    type: "invalid_request_error",
    openaiCode: "invalid_request",
    detail: "Request validation failed.",
  },
  tooManyRequests: { status: 429, type: "rate_limit_error", openaiCode: "rate_limit_exceeded" },
  headersTooLarge: { status: 431, type: "invalid_request_error", openaiCode: "request_too_large" },
  jobFailed: { status: 500, type: "server_error", openaiCode: "job_failed" },
  internal: { status: 500, type: "server_error", openaiCode: "internal_error" },
  /** A feature of the hosted service that the local service lacks. */
  unsupported: { status: 501, type: "invalid_request_error", openaiCode: "unsupported" },
  /** A load balancer's worker failed. */
  badGateway: { status: 502, type: "server_error", openaiCode: "bad_gateway" },
  starting: { status: 503, type: "server_error", openaiCode: "starting" },
  stopping: { status: 503, type: "server_error", openaiCode: "stopping" },
  /** The store is locked, or the data folder read-only. */
  storeUnavailable: { status: 503, type: "server_error", openaiCode: "store_unavailable" },
  jobTimedOut: { status: 504, type: "server_error", openaiCode: "job_timed_out" },
  /** The disk of the data folder is full. */
  storeFull: { status: 507, type: "server_error", openaiCode: "store_full" },
  /** A load balancer's worker exceeded the time limit; the hosted service documents the status. */
  processingTimedOut: { status: 524, type: "server_error", openaiCode: "processing_timed_out" },
} as const satisfies Record<string, ErrorKind>;

/** The stable code of an error. */
type ServiceErrorCode = keyof typeof errorKinds;

/** The table row of an error. */
export const errorKindOf = (code: ServiceErrorCode): ErrorKind => errorKinds[code];

/** Kinds of objects whose properties have another name in some APIs. */
export type ObjectKind = "template" | "endpoint" | "volume";

/** Path of a property in a request or an object. */
type PropertyPath = readonly PropertyKey[];

/** Returns the name of a property in an API: the property of a kind of object, or of the request itself if `of` is undefined. */
export type NameOf = (path: PropertyPath, of: ObjectKind | undefined) => string;

/** One problem of a request; each API names its properties. It contains no secrets. */
export interface Issue {
  /** The invalid property; empty if the text states its own subject. */
  path: PropertyPath;
  /** Kind of object whose property this is; undefined if the path is one of the request itself. */
  of?: ObjectKind | undefined;
  /** Problem and remedy, without the property. A function receives the names of other properties. */
  text: string | ((nameOf: (property: string) => string) => string);
}

const sameName: NameOf = (path) => path.map(String).join(".");

/** An issue as text, with the names of an API; `parent` is the path of the object that has the property. */
export function issueText({ path, of, text }: Issue, nameOf: NameOf = sameName, parent = ""): string {
  const problem = typeof text === "string" ? text : text((property) => nameOf([property], of));
  const subject = [parent, path.length === 0 ? "" : nameOf(path, of)].filter((part) => part !== "").join(".");
  return subject === "" ? problem : `${subject}: ${problem}`;
}

/** Issues as one text. */
export const issuesText = (issues: readonly Issue[], nameOf?: NameOf, parent?: string): string =>
  issues.map((issue) => issueText(issue, nameOf, parent)).join("; ");

/** An error response. Rules throw it, and each API sends its issues in its own form and with its own names of properties. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ServiceErrorCode;
  readonly status: number;
  /** Additional headers of the response, such as Retry-After. */
  readonly headers: Record<string, string>;
  readonly issues: readonly Issue[];

  /** `problem` is one text with subject, problem and remedy, or the issues of properties. */
  constructor(code: ServiceErrorCode, problem: string | readonly Issue[], headers: Record<string, string> = {}) {
    const issues = typeof problem === "string" ? [{ path: [], text: problem }] : problem;
    super(issuesText(issues));
    this.code = code;
    this.status = errorKinds[code].status;
    this.headers = headers;
    this.issues = issues;
  }
}

/** The error for one invalid property, of a kind of object or of the request itself. */
export const invalidProperty = (property: string, text: Issue["text"], of?: ObjectKind): ServiceError =>
  new ServiceError("invalid", [{ path: [property], of, text }]);

/** The error for a missing object; clients search for "not found". */
export const notFound = (what: string, id: string): ServiceError =>
  new ServiceError("missing", `${what} "${id}" not found`);

/** The error for the deletion of a missing object: 400 in REST v1 (interface: Errors). */
export const notFoundOnDelete = (what: string, id: string): ServiceError =>
  new ServiceError("missingOnDelete", `invalid ${what} id: ${what} "${id}" not found`);

/** The error for an unexpected failure; details are only in the service's log. */
export const internalError = (): ServiceError =>
  new ServiceError("internal", "internal server error; see the service's log");

/** The error for a request that the service ends because it stops. */
export const serviceStopping = (): ServiceError =>
  new ServiceError("stopping", "the service is stopping", { connection: "close" });

/** The `code` of a system or SQLite error; empty for any other error. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/** The message of a thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A command failure that the user can correct; printed as one line without a stack. */
export class StartError extends Error {
  override readonly name = "StartError";

  /** True if the command may succeed later without a correction, for example after a restart of the service. */
  readonly retryable: boolean;

  constructor(message: string, options?: { retryable?: boolean; cause?: unknown }) {
    super(message, options);
    this.retryable = options?.retryable ?? false;
  }
}

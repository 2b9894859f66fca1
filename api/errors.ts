/** Category of an error. Policies (retry, adopt, fail) depend on it, never on messages. */
export type ErrorCategory =
  | "auth"
  | "retired"
  | "invalid"
  | "missing"
  | "conflict"
  | "inUse"
  | "throttled"
  | "server"
  | "network"
  | "timeout";

/** The failed request; the URL contains neither key nor query. */
export interface RequestInfo {
  method: string;
  url: string;
  /** Name of the GraphQL operation, if any. */
  operation?: string | undefined;
}

export interface ApiErrorFacts {
  category: ErrorCategory;
  /** Stable code of the fault, such as `duplicate_name` or `connection_refused`. */
  code: string;
  /** HTTP status; undefined without a response. */
  status?: number | undefined;
  request: RequestInfo;
  /** True if the same request may succeed later. */
  retryable: boolean;
  /**
   * True if the request may have been applied although no response confirms it. For idempotent requests this does not matter, and it is
   * true only if the read that confirms one fails, too.
   */
  ambiguous: boolean;
  /** Wait requested by the service (Retry-After), ms. */
  retryAfter?: number | undefined;
  /** Name of the field of a GraphQL query that this service does not have; set if the code is `unknown_field`. */
  field?: string | undefined;
}

/**
 * Failure of a call to the service. `message` contains the message of the service or the connection, with keys
 * redacted.
 */
export class ApiError extends Error implements ApiErrorFacts {
  override readonly name = "ApiError";
  declare readonly category: ErrorCategory;
  declare readonly code: string;
  declare readonly status: number | undefined;
  declare readonly request: RequestInfo;
  declare readonly retryable: boolean;
  declare readonly ambiguous: boolean;
  declare readonly retryAfter: number | undefined;
  declare readonly field: string | undefined;

  constructor(message: string, facts: ApiErrorFacts, options?: { cause?: unknown }) {
    super(message, options);
    Object.assign(this, facts);
  }
}

/** Returns whether `error` is an ApiError of one of the categories. */
export function isApiError(error: unknown, ...categories: ErrorCategory[]): error is ApiError {
  return error instanceof ApiError && (categories.length === 0 || categories.includes(error.category));
}

interface Rule {
  status?: number[];
  text?: RegExp;
  /** Method and path, such as `DELETE /v1/endpoints/abc`, for GraphQL followed by ` #` and the operation. */
  route?: RegExp;
  category: ErrorCategory;
  code: string;
}

/** Kinds of errors of several rules. */
const wrongAddress = { category: "invalid", code: "wrong_address" } as const;
const missingReference = { category: "invalid", code: "reference_not_found" } as const;
const notFound = { category: "missing", code: "not_found" } as const;
const rateLimited = { category: "throttled", code: "rate_limited" } as const;

/** Texts about an object that does not exist. */
const notFoundText = /not found|does(n't| not) exist|no such|unknown (id|endpoint|job|secret|(network )?volume)/i;

/**
 * The only place that interprets the service's messages. The first match applies; a rule without `status` matches every status below 500.
 * GraphQL returns client errors with status 200, so rules for texts precede rules for statuses. A text of REST may be that of an image's
 * registry, so only the status of a REST response shows a rejected key or a rate limit.
 */
const rules: Rule[] = [
  { status: [401], category: "auth", code: "unauthorized" },
  { status: [403], category: "auth", code: "forbidden" },
  { status: [410], route: / #/, category: "retired", code: "graphql_retired" },
  { status: [410], route: /^\w+ \S*\/v1(\/|$)/, category: "retired", code: "rest_v1_retired" },
  { status: [410], category: "retired", code: "address_retired" },
  { route: / #/, text: /unauthori[sz]ed|invalid api key|not authenticated/i, category: "auth", code: "unauthorized" },
  // Another version of the service may lack some requested fields.
  { text: /^Cannot query field|must (not )?have a selection/, category: "invalid", code: "unknown_field" },
  // A 404 of a web server without this path must not count as "deleted".
  {
    status: [404],
    text: /(route|cannot) \w+[: ]\/|^404 page not found|^received an HTML page/i,
    ...wrongAddress,
  },
  // An object referenced by the body does not exist. `missing` means that the object itself does not exist.
  {
    route: /^(POST|PATCH) \S*\/(endpoints|serverless)\b/,
    text: /\btemplate\b.*(not found|does(n't| not) exist)|(unknown|no such) template\b/i,
    category: "invalid",
    code: "template_not_found",
  },
  { text: /^[\w.]+: .*(not found|does(n't| not) exist)/i, ...missingReference },
  // GraphQL reports a missing object with 200, and collections always exist.
  {
    status: [404],
    route: / #|\/(endpoints|network-?volumes|serverless|templates|registries|secrets|gpus|datacenters)$/,
    ...wrongAddress,
  },
  { status: [404], ...notFound },
  { status: [429], ...rateLimited },
  { status: [400], text: /^no workers? available/i, category: "throttled", code: "no_worker" },
  { route: / #/, text: /rate limit|too many requests/i, ...rateLimited },
  { text: /must be unique|already exists|\bname\b.*\balready in use/i, category: "conflict", code: "duplicate_name" },
  {
    route: /^DELETE /,
    text: /workers? ?(min|max).*(0|zero)|scale.*(0|zero)/i,
    category: "inUse",
    code: "endpoint_has_workers",
  },
  { text: /\bin use\b|being used|still used|\bis (bound|attached)\b/i, category: "inUse", code: "in_use" },
  // On delete, an unknown id returns 400 (interface: "invalid network volume id"), with or without a message.
  {
    status: [400],
    route: /^DELETE \S*\/(networkvolumes|endpoints)\//,
    text: /^$|\binvalid\b.*\b(id|volume|endpoint)\b/i,
    ...notFound,
  },
  // A PATCH of a missing object returns 404, so another status is about a reference, such as an image that is not in its registry.
  { status: [400, 422], route: /^PATCH /, text: notFoundText, ...missingReference },
  { text: notFoundText, ...notFound },
  {
    text: /quota|maximum limit|(?<!rate )limit (reached|exceeded)|insufficient (funds|balance)/i,
    category: "invalid",
    code: "quota",
  },
  { status: [200], text: /internal server error|unexpected error/i, category: "server", code: "server_error" },
  { status: [301, 302, 303, 307, 308], ...wrongAddress },
  { status: [409], route: /^POST \S*\/account\/secrets$/, category: "conflict", code: "duplicate_name" },
  { status: [409], category: "conflict", code: "conflict" },
  { status: [413], category: "invalid", code: "too_large" },
  { status: [408], category: "timeout", code: "request_timeout" },
  { status: [503], category: "throttled", code: "unavailable" },
  { status: [501, 505], category: "invalid", code: "not_supported" },
];

/** Removes quoted names, which are chosen by users and must not affect the category. */
const withoutQuotedText = (text: string): string => text.replace(/"[^"]*"/g, '""');

function routeOf({ method, url, operation }: RequestInfo): string {
  const path = URL.canParse(url) ? new URL(url).pathname : url;
  return `${method} ${path}${operation === undefined ? "" : ` #${operation}`}`;
}

/** Returns the reason phrase of a status. Node's HTTP is loaded lazily, because it adds 2 ms to the start of a Bun executable. */
const statusTextOf = (status: number): string => process.getBuiltinModule("node:http").STATUS_CODES[status] ?? "";

function matchesRule(rule: Rule, status: number, text: string, route: string): boolean {
  if (rule.status && !rule.status.includes(status)) return false;
  if (rule.text && (status >= 500 || !rule.text.test(text))) return false;
  return !rule.route || rule.route.test(route);
}

/**
 * Converts an error response to an ApiError. A rejected request was not applied. `text` determines the kind of error;
 * `redactedText` becomes its message.
 */
export function classifyResponse(
  response: { status: number; text: string; redactedText?: string; retryAfter?: number | undefined },
  request: RequestInfo,
): ApiError {
  const { status, text, redactedText = text, retryAfter } = response;
  const unquotedText = withoutQuotedText(text);
  const rule =
    rules.find((candidate) => matchesRule(candidate, status, unquotedText, routeOf(request))) ??
    (status >= 500
      ? ({ category: "server", code: "server_error" } as const)
      : ({ category: "invalid", code: "invalid_request" } as const));
  return new ApiError(redactedText || `HTTP ${status} ${statusTextOf(status)}`.trim(), {
    category: rule.category,
    code: rule.code,
    status,
    request,
    retryable: rule.category === "throttled" || rule.category === "server" || rule.category === "timeout",
    // A 503 may come from a proxy after a timeout; only a 429 means that nothing was changed (interface: Errors).
    ambiguous: rule.category === "server" || rule.category === "timeout" || rule.code === "unavailable",
    retryAfter,
    // The first quoted name; the others are suggestions, which the service supports.
    field: rule.code === "unknown_field" ? /"(\w+)"/.exec(redactedText)?.[1] : undefined,
  });
}

/** The same error for an idempotent request, for which `ambiguous` does not matter. */
export const unambiguous = (error: ApiError): ApiError =>
  error.ambiguous ? new ApiError(error.message, { ...error, ambiguous: false }, { cause: error.cause }) : error;

/** The error for an attempt without a response in time. */
export function noResponse(milliseconds: number, request: RequestInfo, sent: boolean): ApiError {
  const message = `no response within ${Number((milliseconds / 1000).toPrecision(2))} s`;
  return new ApiError(message, {
    category: sent ? "timeout" : "network",
    code: sent ? "response_timeout" : "connect_timeout",
    request,
    retryable: true,
    ambiguous: sent,
  });
}

/** The error for an invalid response to a successful request; `detail` names the field, never a value. */
export function unexpectedResponse(
  detail: string,
  request: RequestInfo,
  ambiguous: boolean,
  status?: number,
): ApiError {
  return permanentError(detail, { category: "server", code: "unexpected_response", status, request, ambiguous });
}

/** The error for a call that is not sent because of an invalid argument. */
export function invalidArgument(message: string, request: RequestInfo): ApiError {
  return permanentError(message, { category: "invalid", code: "invalid_argument", request, ambiguous: false });
}

const permanentError = (message: string, facts: Omit<ApiErrorFacts, "retryable">): ApiError =>
  new ApiError(message, { ...facts, retryable: false });

/** Throws the error for an invalid argument if the timeout of a call is not at least 1 ms. */
export function requireTimeout(timeout: number, request: RequestInfo): void {
  if (typeof timeout === "number" && timeout >= 1) return;
  throw invalidArgument(`timeout is ${timeout}; must be a number of at least 1`, request);
}

/** Serializes a value. Throws the error for an invalid argument if it is not JSON. */
export function toJson(value: unknown, subject: string, request: RequestInfo): string {
  let reason = `a ${typeof value} has no JSON`;
  try {
    const text: string | undefined = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch (error) {
    reason = error instanceof Error ? error.message : String(error);
  }
  throw invalidArgument(`${subject} is not JSON: ${reason}`, request);
}

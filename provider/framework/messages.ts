import { ApiError, type ErrorCategory } from "serverless-compute-api";
import { isLoopback } from "serverless-compute-api/address";
import { localKeyHint, type OperationSettings, type SettingNames } from "../settings/setting-names";
import { UserError } from "./errors";
import { helpForCall } from "./help";

/** ErrorContext of a failed call. */
export interface ErrorContext {
  /** Readable name of the object: `Template "chat-dev"`. */
  label: string;
  operation: "create" | "read" | "update" | "delete" | "look up";
  names: SettingNames;
}

/** Message for the user: object, problem and remedy. The category and the code of the error select the text. */
export function explain(error: ApiError, subject: ErrorContext): string {
  const text = categoryMessages[error.category](error, subject);
  return `${subject.label}: ${text}${error.ambiguous && subject.operation === "create" ? lostCreateAdvice : ""}`;
}

/** Advice about a create whose response was lost. */
export const lostCreateAdvice =
  '\nThe service may or may not have processed the request; "npx --no serverless-compute recover" lists any object that it created.';

/** The warning of a command that found none of the objects in the state; `address` is that of the service. */
export const noneFoundWarning = (count: number, address: string, { addresses }: SettingNames): string =>
  `${address}: the service ${count === 1 ? "does not have the only object" : `has none of the ${count} objects`} that this command looked up; ` +
  `unless ${count === 1 ? "it was" : "they were"} deleted, check the API key, its account, and ${addresses}`;

/** Returns `error` with the message for the user; an error that is not a failed call is returned unchanged. */
export function toUserError(error: ApiError, subject: ErrorContext): UserError;
export function toUserError(error: unknown, subject: ErrorContext): unknown;
export function toUserError(error: unknown, subject: ErrorContext): unknown {
  if (!(error instanceof ApiError)) return error;
  return new UserError(explain(error, subject), { cause: error, help: helpForCall(error) });
}

/** Runs requests that look something up. A failed request rejects with the message for the user; `label` names its subject. */
export async function explainLookup<Result>(
  label: string,
  { names }: Pick<OperationSettings, "names">,
  requests: () => Promise<Result>,
): Promise<Result> {
  try {
    return await requests();
  } catch (error) {
    throw toUserError(error, { label, operation: "look up", names });
  }
}

const originOf = ({ request }: ApiError): string =>
  URL.canParse(request.url) ? new URL(request.url).origin : request.url;

/** Method and path of a request, for GraphQL its operation. */
const requestOf = ({ request: { method, operation, url } }: ApiError): string =>
  operation ?? `${method} ${URL.canParse(url) ? new URL(url).pathname : url}`;

/** Message of the service or the connection, in one line. The error contains no secret of the call, and is cut afterwards. */
const serviceMessage = (error: ApiError): string => error.message.trim().replace(/\s*\n\s*/g, " ");

const localStartAdvice = (url: string): string =>
  isLoopback(url) ? ' Start the local service ("npx --no serverless-compute-local start"), or set' : " Set";

const networkMessages: Record<string, (error: ApiError, origin: string, names: SettingNames) => string> = {
  connection_refused: (_, origin, { addresses }) =>
    `cannot connect to ${origin}: connection refused.${localStartAdvice(origin)} ${addresses} to the service's address.`,
  unknown_host: (_, origin, { addresses }) => `cannot resolve the host of ${origin}. Check ${addresses} and your DNS.`,
  unreachable: (_, origin, { addresses }) => `cannot reach ${origin}. Check the network and ${addresses}.`,
  connect_timeout: (_, origin, { addresses }) =>
    `connecting to ${origin} timed out. Check the network and ${addresses}.`,
  proxied: (error, origin) =>
    `cannot reach ${origin} through the proxy (${serviceMessage(error)}). Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.`,
  not_http: (_, origin, { addresses }) => `the server at ${origin} does not speak HTTP. Check ${addresses}.`,
  invalid_request: (error, origin, { addresses }) =>
    `the HTTP client rejected the request to ${origin} (${serviceMessage(error)}). Check ${addresses}.`,
  closed: () => "the deployment ended before this request finished. Run it again.",
  not_tls: (_, origin, { addresses }) =>
    `the server at ${origin} does not speak TLS. Use http:// in ${addresses}, or check the port.`,
  tls: (error, origin) =>
    `cannot establish a trusted connection to ${origin} (${serviceMessage(error)}). Check its certificate and the address.`,
};

/** The engine keeps the config of providers, and runs no program for "refresh" and "destroy". */
const lastConfigAdvice = (setting: "apiKey" | "dialect", { operation, names }: ErrorContext): string =>
  (operation === "read" || operation === "delete") && !names.fromEnvironment.includes(setting)
    ? `\n"pulumi refresh" and "pulumi destroy" use the config of the last "pulumi up": if the ${setting === "apiKey" ? "key" : setting} has changed ` +
      'since, run "pulumi up" first, or add --run-program.'
    : "";

const keySourceAdvice = (error: ApiError, subject: ErrorContext): string =>
  `The key comes from ${subject.names.apiKey}${localKeyHint(error.request.url)}.${lastConfigAdvice("apiKey", subject)}`;

/** Names of the APIs that REST v2 replaces, by the code of the error. */
const retiredApis: Record<string, string> = { rest_v1_retired: "REST v1", graphql_retired: "its GraphQL API" };

const wrongAddressMessage = (error: ApiError, { names }: ErrorContext): string =>
  `${error.request.url} is not an address of the service (${serviceMessage(error)}). Check ${names.addresses}.`;

const categoryMessages: Record<ErrorCategory, (error: ApiError, subject: ErrorContext) => string> = {
  auth: (error, subject) =>
    error.code === "forbidden"
      ? `the API key is valid but lacks a permission: ${originOf(error)} rejected ${requestOf(error)} (${serviceMessage(error)}). ` +
        `Add the permission to the key, or set another key. ${keySourceAdvice(error, subject)}`
      : `${originOf(error)} rejected the API key, or the key lacks permission. ${keySourceAdvice(error, subject)}`,
  retired: (error, subject) => {
    const api = retiredApis[error.code];
    const { addresses, dialect, baseUrl } = subject.names;
    if (api === undefined)
      return `${error.request.url} has been retired (${serviceMessage(error)}). Check ${addresses}.`;
    return (
      `${originOf(error)} has retired ${api} (${serviceMessage(error)}). Set ${dialect} to v2, and a custom ` +
      `${baseUrl} to the address of REST v2.${lastConfigAdvice("dialect", subject)}`
    );
  },
  invalid: (error, subject) => {
    if (error.code === "quota")
      return `the account's limit is reached: ${serviceMessage(error)}. Delete unused objects, or request a higher limit.`;
    if (error.code === "wrong_address") return wrongAddressMessage(error, subject);
    // The client rejects an invalid argument itself.
    return `${error.code === "invalid_argument" ? "" : "the service rejected the request: "}${serviceMessage(error)}`;
  },
  missing: (error, subject) => {
    const { operation } = subject;
    if (operation === "create") return `a referenced object does not exist: ${serviceMessage(error)}`;
    if (operation === "update")
      return `no longer exists: ${serviceMessage(error)}. Run "pulumi refresh"; the next "pulumi up" creates it again.`;
    // Reads and deletes handle a missing object themselves; here the whole collection is missing.
    return wrongAddressMessage(error, subject);
  },
  conflict: (error) =>
    error.code === "duplicate_name"
      ? `the name is already taken in this account (${serviceMessage(error)}). Set another name, delete the object that has it, or set adoptExisting: true to adopt it. If the program renames the resource, set its option aliases. To replace an object under its name, set the option deleteBeforeReplace: true.`
      : `conflicts with its current state: ${serviceMessage(error)}`,
  inUse: (error) =>
    `still in use: ${serviceMessage(error)}. Remove the objects that use it, then try again. To replace it, remove its option deleteBeforeReplace, and change a name that the program sets.`,
  throttled: (error) =>
    error.code === "rate_limited"
      ? `still rate limited by ${originOf(error)} after retries. Try again later.`
      : `${originOf(error)} is still unavailable after retries: ${serviceMessage(error)}. Try again later.`,
  server: (error, { names }) =>
    error.code === "unexpected_response"
      ? `${originOf(error)} sent an unexpected response: ${serviceMessage(error)}. Check ${names.addresses}.`
      : `${originOf(error)} failed with HTTP ${error.status}: ${serviceMessage(error)}. Try again; the service's logs have the cause.`,
  network: (error, { names }) =>
    networkMessages[error.code]?.(error, originOf(error), names) ??
    `the connection to ${originOf(error)} was lost (${serviceMessage(error)}). Try again.`,
  timeout: (error) => `${originOf(error)} did not respond in time (${serviceMessage(error)}). Try again.`,
};

import { ApiError, type ErrorCategory } from "serverless-compute-api";
import { isLoopback } from "serverless-compute-api/address";
import { keySources, localKeyHint } from "../setting-table";

/** What a failed call was about. */
export interface Subject {
  /** The object as a person knows it: `Template "chat-dev"`. */
  label: string;
  verb: "create" | "read" | "update" | "delete" | "look up";
}

const addresses = "serverless-compute:baseUrl, :graphqlUrl and :serverlessUrl";

/** The text a person needs: which object, what happened, what to do. Reads the error's category and code only. */
export function explain(error: ApiError, subject: Subject): string {
  const text = sentences[error.category](error, subject);
  return `${subject.label}: ${text}${error.ambiguous && subject.verb === "create" ? lostCreate : ""}`;
}

/** What a person has to know of a create whose answer got lost. */
export const lostCreate =
  "\nIt is not known whether the service carried the request out. Look whether the object exists before you try again.";

/** A failure told to a person; policy that needs the facts finds the ApiError in `cause`. */
export class ExplainedError extends Error {
  override readonly name = "ExplainedError";
}

/** `error` with the text a person needs; what is no failure of a call stays as it is. */
export function explained(error: unknown, subject: Subject): unknown {
  return error instanceof ApiError ? new ExplainedError(explain(error, subject), { cause: error }) : error;
}

const originOf = ({ request }: ApiError): string =>
  URL.canParse(request.url) ? new URL(request.url).origin : request.url;

/** What the service or the connection said, in one line; the error has no secret of the call, and is cut after that. */
const said = (error: ApiError): string => error.message.trim().replace(/\s*\n\s*/g, " ");

const localStart = (url: string): string =>
  isLoopback(url) ? ' Start the local service ("npx serverless-compute-local start"), or set' : " Set";

const faults: Record<string, (error: ApiError, origin: string) => string> = {
  connection_refused: (_, origin) =>
    `nothing answers at ${origin}.${localStart(origin)} ${addresses} to where the service is.`,
  unknown_host: (_, origin) => `the host of ${origin} is unknown. Check ${addresses} and the name service.`,
  unreachable: (_, origin) => `${origin} cannot be reached. Check the network and ${addresses}.`,
  connect_timeout: (_, origin) => `${origin} does not take connections. Check the network and ${addresses}.`,
  proxied: (error, origin) =>
    `${origin} cannot be reached (${said(error)}). A proxy is set: check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.`,
  not_http: (_, origin) => `what answers at ${origin} does not speak HTTP. Check ${addresses}.`,
  closed: () => "the deployment ended before it was done. Run it again.",
  not_tls: (_, origin) =>
    `what answers at ${origin} does not speak TLS. Write http:// in ${addresses}, or check the port.`,
  tls: (error, origin) => `no trusted connection to ${origin} (${said(error)}). Check its certificate and the address.`,
};

/** The engine keeps what providers were configured with, and runs no program for these two. */
const lastKey =
  '\n"pulumi refresh" and "pulumi destroy" use the config of the last "pulumi up": if the key has changed since, run ' +
  '"pulumi up" first, or add --run-program.';

const noAddress = (error: ApiError): string =>
  `${error.request.url} is no address of the service (${said(error)}). Check ${addresses}.`;

const sentences: Record<ErrorCategory, (error: ApiError, subject: Subject) => string> = {
  auth: (error, { verb }) =>
    `${originOf(error)} refused the API key, or the key may not do this. ` +
    `The key comes from ${keySources}${localKeyHint(error.request.url)}.${verb === "read" || verb === "delete" ? lastKey : ""}`,
  invalid: (error) => {
    if (error.code === "quota")
      return `the account's limit is reached: ${said(error)}. Delete what is not needed, or have the limit raised.`;
    return error.code === "wrong_address" ? noAddress(error) : `the service refused it: ${said(error)}`;
  },
  missing: (error, { verb }) => {
    if (verb === "create") return `something it refers to does not exist: ${said(error)}`;
    if (verb === "update")
      return `it is gone: ${said(error)}. Run "pulumi refresh"; the next "pulumi up" makes it again.`;
    // Reads and deletes know what to make of an absent object: here it is the whole collection that is absent.
    return noAddress(error);
  },
  conflict: (error) =>
    error.code === "duplicate_name"
      ? `the name is taken in this account (${said(error)}). Set another name, delete the object that has it, or set adoptExisting to take it over. To replace a resource by force, set its option deleteBeforeReplace: true.`
      : `the service refused it for the state it is in: ${said(error)}`,
  inUse: (error) => `it is still in use: ${said(error)}. Remove what uses it, then try again.`,
  throttled: (error) =>
    error.code === "rate_limited"
      ? `${originOf(error)} takes no more requests at the moment, in spite of waiting. Try again later.`
      : `${originOf(error)} is not available at the moment, in spite of waiting: ${said(error)}. Try again later.`,
  server: (error) =>
    error.code === "unexpected_answer"
      ? `${originOf(error)} answered something that does not fit: ${said(error)}. Check ${addresses}.`
      : `${originOf(error)} failed (HTTP ${error.status ?? "?"}): ${said(error)}. Try again; its logs tell the cause.`,
  network: (error) =>
    faults[error.code]?.(error, originOf(error)) ??
    `the connection to ${originOf(error)} was lost (${said(error)}). Try again.`,
  timeout: (error) => `${originOf(error)} did not answer in time (${said(error)}). Try again.`,
};

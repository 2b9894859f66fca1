import type { GraphQLError } from "graphql";
import { createGraphQLError } from "graphql-yoga";
import { ServiceError } from "../errors";

/**
 * The error that a client gets for one that happened: our own as they are, the library's without the values that
 * it quotes (one may be a secret), and anything else as an internal error that says nothing; `report` gets that one.
 */
export function tellableError(error: GraphQLError, report: (error: unknown) => void): GraphQLError {
  const { nodes, source, path, originalError: cause } = error;
  const tell = (message: string, code: string): GraphQLError =>
    createGraphQLError(message, {
      nodes: nodes ?? null,
      source: source ?? null,
      path: path ?? null,
      extensions: { code },
    });
  if (cause instanceof ServiceError) return tell(cause.message, cause.code);
  // The library's own errors have no cause, or one of their own kind.
  if (!cause || isLibrarys(cause)) return tell(withoutValues(error.message, cause?.message), "invalid");
  report(cause);
  return tell("internal server error: the service's log says more", "internal");
}

/** By name: a bundler may load the library twice, and then its classes differ. */
const isLibrarys = (cause: Error): boolean => cause.name === "GraphQLError";

const wrongVariable = /^(Variable "\$\w+" got) invalid value [\s\S]*?(?: at "([\w.[\]]+)")?; (?=[A-Z])/;

/** Takes the quoted values out of a message: `Variable "$input" got invalid value "…" at "input.value"; …`. */
function withoutValues(message: string, tail: string | undefined): string {
  const found = wrongVariable.exec(message);
  const text = found ? `${found[1]} an invalid value${found[2] ? ` at "${found[2]}"` : ""}; ${tail ?? ""}` : message;
  return text
    .replace(/(cannot represent [\w -]+): [\s\S]*$/, "$1")
    .replace(/\b(found|Unexpected) ((?:Block)?String )?"[\s\S]*"/, "$1 a text");
}

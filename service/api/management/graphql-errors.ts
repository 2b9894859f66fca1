import { GraphQLError } from "graphql";
import { internalError, issuesText, ServiceError } from "../../errors";
import { nameInGraphql } from "../property-names";

/**
 * The error for the client: a ServiceError with GraphQL's names of properties, an error of the library without quoted values (which may
 * be secrets), otherwise an internal error without details, which go to `report`.
 */
export function publicError(error: unknown, report: (error: unknown) => void): GraphQLError {
  const graphqlError = error instanceof GraphQLError ? error : undefined;
  const cause: unknown = graphqlError ? graphqlError.originalError : error;
  const withCode = (message: string, code: string): GraphQLError =>
    new GraphQLError(message, {
      nodes: graphqlError?.nodes ?? null,
      source: graphqlError?.source ?? null,
      positions: graphqlError?.positions ?? null,
      path: graphqlError?.path ?? null,
      extensions: { code },
    });
  if (cause instanceof ServiceError) return withCode(issuesText(cause.issues, nameInGraphql), cause.code);
  // Errors of the library have no cause, or another GraphQLError as cause.
  if (graphqlError && !cause) return withCode(withoutValues(graphqlError.message, undefined), "invalid");
  if (graphqlError && cause instanceof GraphQLError)
    return withCode(withoutValues(graphqlError.message, cause.message), "invalid");
  // Only parsing and validation recurse outside of resolvers.
  if (!graphqlError && cause instanceof RangeError) return withCode("query: is nested too deeply", "invalid");
  report(cause);
  const { message, code } = internalError();
  return withCode(message, code);
}

const invalidVariable = /^(Variable "\$\w+" got) invalid value [\s\S]*?(?: at "([\w.[\]]+)")?; (?=[A-Z])/;

/** Removes quoted values from a message such as `Variable "$input" got invalid value "…" at "input.value"; …`. */
function withoutValues(message: string, causeMessage: string | undefined): string {
  const match = invalidVariable.exec(message);
  const text = match
    ? `${match[1]} an invalid value${match[2] ? ` at "${match[2]}"` : ""}; ${causeMessage ?? ""}`
    : message;
  return (
    text
      // The library's words have a limit; otherwise, a value of such words would take quadratic time.
      .replace(/(cannot represent [\w -]{1,60}): [\s\S]*$/, "$1")
      .replace(/\b(found|Unexpected) ((?:Block)?String )?"[\s\S]*"/, "$1 a string")
  );
}

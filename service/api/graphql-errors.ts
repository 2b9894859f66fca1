import { GraphQLError } from "graphql";
import { internalError, ServiceError } from "../errors";

/**
 * The error for the client: a ServiceError unchanged, an error of the library without quoted values (which may be secrets), otherwise an
 * internal error without details, which go to `report`.
 */
export function publicError(error: unknown, report: (error: unknown) => void): GraphQLError {
  const located = error instanceof GraphQLError ? error : undefined;
  const cause: unknown = located ? located.originalError : error;
  const withCode = (message: string, code: string): GraphQLError =>
    new GraphQLError(message, {
      nodes: located?.nodes ?? null,
      source: located?.source ?? null,
      positions: located?.positions ?? null,
      path: located?.path ?? null,
      extensions: { code },
    });
  if (cause instanceof ServiceError) return withCode(cause.message, cause.code);
  // Errors of the library have no cause, or another GraphQLError as cause.
  if (located && !cause) return withCode(withoutValues(located.message, undefined), "invalid");
  if (located && cause instanceof GraphQLError)
    return withCode(withoutValues(located.message, cause.message), "invalid");
  // Only parsing and validation recurse outside of resolvers.
  if (!located && cause instanceof RangeError) return withCode("query: is nested too deep", "invalid");
  report(cause);
  const { message, code } = internalError();
  return withCode(message, code);
}

const wrongVariable = /^(Variable "\$\w+" got) invalid value [\s\S]*?(?: at "([\w.[\]]+)")?; (?=[A-Z])/;

/** Removes quoted values from a message such as `Variable "$input" got invalid value "…" at "input.value"; …`. */
function withoutValues(message: string, tail: string | undefined): string {
  const found = wrongVariable.exec(message);
  const text = found ? `${found[1]} an invalid value${found[2] ? ` at "${found[2]}"` : ""}; ${tail ?? ""}` : message;
  return text
    .replace(/(cannot represent [\w -]+): [\s\S]*$/, "$1")
    .replace(/\b(found|Unexpected) ((?:Block)?String )?"[\s\S]*"/, "$1 a text");
}

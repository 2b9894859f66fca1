import { GraphQLError } from "graphql";
import { internalError, ServiceError } from "../errors";

/**
 * The error that a client gets: our own as they are, the library's without the values that it quotes (one may be a
 * secret), and for anything else an internal error without details, which go to `report`.
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
  // The library's own errors have no cause, or one of their own kind.
  if (located && !cause) return withCode(withoutValues(located.message, undefined), "invalid");
  if (located && cause instanceof GraphQLError)
    return withCode(withoutValues(located.message, cause.message), "invalid");
  // Only parse and validate recurse without a resolver around them.
  if (!located && cause instanceof RangeError) return withCode("query: is nested too deep", "invalid");
  report(cause);
  const { message, code } = internalError();
  return withCode(message, code);
}

const wrongVariable = /^(Variable "\$\w+" got) invalid value [\s\S]*?(?: at "([\w.[\]]+)")?; (?=[A-Z])/;

/** Takes the quoted values out of a message: `Variable "$input" got invalid value "…" at "input.value"; …`. */
function withoutValues(message: string, tail: string | undefined): string {
  const found = wrongVariable.exec(message);
  const text = found ? `${found[1]} an invalid value${found[2] ? ` at "${found[2]}"` : ""}; ${tail ?? ""}` : message;
  return text
    .replace(/(cannot represent [\w -]+): [\s\S]*$/, "$1")
    .replace(/\b(found|Unexpected) ((?:Block)?String )?"[\s\S]*"/, "$1 a text");
}

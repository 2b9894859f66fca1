import { GraphQLError } from "graphql";
import { ServiceError } from "../errors";

/**
 * The error that a client gets for one that happened: our own as they are, the library's without the values that
 * it quotes (one may be a secret), and anything else as an internal error that says nothing; `report` gets that one.
 */
export function tellableError(error: unknown, report: (error: unknown) => void): GraphQLError {
  const told = error instanceof GraphQLError ? error : undefined;
  const cause: unknown = told ? told.originalError : error;
  const tell = (message: string, code: string): GraphQLError =>
    new GraphQLError(message, {
      nodes: told?.nodes ?? null,
      source: told?.source ?? null,
      positions: told?.positions ?? null,
      path: told?.path ?? null,
      extensions: { code },
    });
  if (cause instanceof ServiceError) return tell(cause.message, cause.code);
  // The library's own errors have no cause, or one of their own kind.
  if (told && !cause) return tell(withoutValues(told.message, undefined), "invalid");
  if (told && cause instanceof GraphQLError) return tell(withoutValues(told.message, cause.message), "invalid");
  // Outside of the rules, only what reads the query calls itself.
  if (!told && cause instanceof RangeError) return tell("query: is nested too deep", "invalid");
  report(cause);
  return tell("internal server error: the service's log says more", "internal");
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

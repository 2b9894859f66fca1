import { GraphQLClient } from "graphql-request";
import { z } from "zod";
import { requestInfo } from "../address";
import { unexpectedResponse } from "../errors";
import type { CallOptions } from "../management";
import { graphqlErrorText, parseElements, parseResponse } from "../response";
import type { Transport } from "../transport";

/** One operation of the GraphQL API. */
export interface GraphqlOperation<Shape extends z.ZodType> {
  name: string;
  /** The query text; values are passed as variables, never inserted into the text. */
  document: string;
  variables?: Record<string, unknown>;
  /** The shape of `data` in the response. */
  shape: Shape;
  idempotent: boolean;
  secrets?: readonly string[];
}

/** Creates the calls of the GraphQL dialect, which parse responses by their shapes and throw ApiErrors. */
export function createGraphqlCalls(transport: Transport, graphqlUrl: string) {
  async function send<Shape extends z.ZodType>(
    { name, document, variables, shape, idempotent, secrets = [] }: GraphqlOperation<Shape>,
    options?: CallOptions,
  ): Promise<z.output<Shape>> {
    const request = { method: "POST", url: graphqlUrl, operation: name, idempotent, secrets } as const;
    const info = requestInfo(request);
    let status = 200;
    let failure: { reason: unknown } | undefined;
    const client = new GraphQLClient(graphqlUrl, {
      // The transport rejects responses with an error message.
      errorPolicy: "all",
      fetch: async (_url, init) => {
        const sent = transport.send({ ...request, body: init?.body, errorTextOf: graphqlErrorText }, options);
        const response = await sent.catch((reason: unknown) => {
          failure = { reason };
          throw reason;
        });
        ({ status } = response);
        // A service may send its JSON as another type.
        return new Response(response.text, { status, headers: { "content-type": "application/json" } });
      },
    });
    const { data } = await client.rawRequest<unknown>(document, variables).catch(() => {
      if (failure) throw failure.reason;
      // Errors of the library contain the variables, including secret values, so they are discarded.
      throw unexpectedResponse("response is not a GraphQL response", info, !idempotent, status);
    });
    return parseResponse(data ?? null, shape, info, { ambiguous: !idempotent, status });
  }

  return {
    send,

    /** Lists all objects of the account under `key`. */
    async list<Shape extends z.ZodType>(
      { name, document }: Pick<GraphqlOperation<Shape>, "name" | "document">,
      key: string,
      shape: Shape,
      options: CallOptions | undefined,
    ): Promise<z.output<Shape>[]> {
      const account = z.looseObject({ myself: z.looseObject({ [key]: z.array(z.unknown()).nullish() }) });
      const { myself } = await send({ name, document, shape: account, idempotent: true }, options);
      const info = requestInfo({ method: "POST", url: graphqlUrl, operation: name });
      return parseElements(myself[key] ?? [], shape, info, {
        path: ["myself", key],
        onUnreadable: options?.onUnreadable,
      });
    },
  };
}

export type GraphqlCalls = ReturnType<typeof createGraphqlCalls>;

import { z } from "zod";
import { requestFacts } from "../address";
import { parseAnswer, parseElements, parseJson } from "../answer";
import { isApiError } from "../errors";
import type { CallOptions } from "../management";
import type { Transport, TransportRequest } from "../transport";

/** The calls that the REST dialects are made of: responses parsed by their shapes, faults as ApiErrors. */
export function createRestCalls(transport: Transport) {
  async function ask<Shape extends z.ZodType>(
    shape: Shape,
    request: TransportRequest,
    options: CallOptions | undefined,
  ): Promise<z.output<Shape>> {
    const answer = await transport.send(request, options);
    const facts = { ambiguous: !request.idempotent, status: answer.status };
    return parseAnswer(parseJson(answer.text), shape, requestFacts(request), facts);
  }

  return {
    ask,

    /** All that a collection lists: a bare array, or one under `key`. */
    async list<Shape extends z.ZodType>(
      shape: Shape,
      url: string,
      options: CallOptions | undefined,
      key?: string,
    ): Promise<z.output<Shape>[]> {
      const request = { method: "GET", url, idempotent: true } as const;
      const { text, status } = await transport.send(request, options);
      const facts = requestFacts(request);
      const bare = z.array(z.unknown());
      const wrapped =
        key === undefined ? bare : z.looseObject({ [key]: bare }).transform((answer) => answer[key] ?? []);
      const elements = parseAnswer(parseJson(text), wrapped, facts, { ambiguous: false, status });
      const at = key === undefined ? [] : [key];
      return parseElements(elements, shape, facts, { at, status, onUnreadable: options?.onUnreadable });
    },

    /** A record by its id, undefined when the service knows none. */
    async read<Shape extends z.ZodType>(
      shape: Shape,
      url: string,
      options: CallOptions | undefined,
    ): Promise<z.output<Shape> | undefined> {
      try {
        return await ask(shape, { method: "GET", url, idempotent: true }, options);
      } catch (error) {
        if (isApiError(error, "missing")) return undefined;
        throw error;
      }
    },

    async remove(url: string, options: CallOptions | undefined): Promise<void> {
      await transport.send({ method: "DELETE", url, idempotent: true }, options);
    },
  };
}

import { z } from "zod";
import { requestFacts } from "../address";
import { type ApiError, classifyResponse, isApiError, type RequestFacts, unexpectedResponse } from "../errors";
import type { CallOptions } from "../management";
import { parseElements, parseResponse } from "../response";
import { v2Page } from "../shapes";
import type { Transport, TransportRequest } from "../transport";
import { changeOutcome } from "./change-outcome";

/** Longest succession of empty pages; a service without a last page would otherwise be read for ever. */
const maxEmptyPages = 100;

const elementsShape = (key: string | undefined) => {
  const arrayShape = z.array(z.unknown());
  return key === undefined
    ? arrayShape
    : z.looseObject({ [key]: arrayShape }).transform((response) => response[key] ?? []);
};

/** Options of a call whose response is shared with other calls, which its deadline and cancellation must not affect. */
export function sharedOptions(options: CallOptions | undefined): CallOptions {
  const { signal: _s, waitSignal: _w, timeout: _d, onDeadline: _o, onComplete: _c, ...rest } = options ?? {};
  return rest;
}

/** The service's error for an endpoint whose template does not exist. */
export const templateNotFound = (id: string, request: RequestFacts): ApiError =>
  classifyResponse({ status: 400, text: `templateId: template "${id}" does not exist` }, request);

/** Creates the calls of the REST dialects, which parse responses by their shapes and throw ApiErrors. */
export function createRestCalls(transport: Transport) {
  async function send<Shape extends z.ZodType>(
    shape: Shape,
    request: TransportRequest,
    options: CallOptions | undefined,
  ): Promise<z.output<Shape>> {
    const response = await transport.send(request, options);
    const facts = { ambiguous: !request.idempotent, status: response.status };
    return parseResponse(response.body, shape, requestFacts(request), facts);
  }

  return {
    send,

    /**
     * Lists all elements of a collection: a bare array, or the arrays under `key` of all pages. Rejects if a page is missing, so that
     * callers never get an incomplete list.
     */
    async list<Shape extends z.ZodType>(
      shape: Shape,
      url: string,
      options: CallOptions | undefined,
      key?: string,
    ): Promise<z.output<Shape>[]> {
      const request = { method: "GET", url, idempotent: true } as const;
      const facts = requestFacts(request);
      const path = key === undefined ? [] : [key];
      const records: z.output<Shape>[] = [];
      const cursors = new Set<string>();
      let emptyPages = 0;
      for (let address = url; ; ) {
        const { body: response, status } = await transport.send({ ...request, url: address }, options);
        const elements = parseResponse(response, elementsShape(key), facts, { ambiguous: false, status });
        records.push(...parseElements(elements, shape, facts, { path, status, onUnreadable: options?.onUnreadable }));
        if (key === undefined) return records;
        const { pagination } = parseResponse(response, v2Page, facts, { ambiguous: false, status });
        if (pagination?.hasNextPage === false) options?.onComplete?.();
        if (!pagination?.hasNextPage) return records;
        emptyPages = elements.length === 0 ? emptyPages + 1 : 0;
        if (emptyPages === maxEmptyPages)
          throw unexpectedResponse('"pagination" in the response has no end', facts, false, status);
        const { nextCursor } = pagination;
        if (!nextCursor || cursors.has(nextCursor)) {
          const problem = nextCursor ? "repeats a cursor" : "has no cursor for the next page";
          throw unexpectedResponse(`"pagination" in the response ${problem}`, facts, false, status);
        }
        cursors.add(nextCursor);
        const next = new URL(url);
        next.searchParams.set("cursor", nextCursor);
        address = next.href;
      }
    },

    /** Reads a record by its id; undefined if it does not exist. */
    async read<Shape extends z.ZodType>(
      shape: Shape,
      url: string,
      options: CallOptions | undefined,
    ): Promise<z.output<Shape> | undefined> {
      try {
        return await send(shape, { method: "GET", url, idempotent: true }, options);
      } catch (error) {
        if (isApiError(error, "missing")) return undefined;
        throw error;
      }
    },

    /** A change of the object at `url`. After an ambiguous failure, it is retried only if a read shows that it was not applied. */
    patch: (url: string, body: object, secrets: readonly string[] = []): TransportRequest => ({
      method: "PATCH",
      url,
      body,
      idempotent: true,
      secrets,
      confirm: async (options) => {
        const response = await transport.send({ method: "GET", url, idempotent: true }, options);
        const outcome = changeOutcome(body, response.body);
        if (outcome !== "unknown") return outcome === "made" ? response : undefined;
        throw unexpectedResponse("the response does not show the change", requestFacts({ method: "GET", url }), true);
      },
    }),

    async remove(url: string, options: CallOptions | undefined): Promise<void> {
      const request = { method: "DELETE", url, idempotent: true } as const;
      const { status, text, body } = await transport.send(request, options);
      // A page of another server, such as a sign-in page, deletes nothing.
      if (text.trim() !== "" && body === undefined)
        throw unexpectedResponse("response is not valid JSON", requestFacts(request), false, status);
    },
  };
}

export type RestCalls = ReturnType<typeof createRestCalls>;

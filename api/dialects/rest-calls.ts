import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { pathSegment, requestInfo } from "../address";
import { maxTimerDelay, untilAborted } from "../clock";
import {
  type ApiError,
  classifyResponse,
  isApiError,
  noResponse,
  type RequestInfo,
  requireTimeout,
  unambiguous,
  unexpectedResponse,
} from "../errors";
import type { CallOptions } from "../management";
import { parseElements, parseResponse } from "../response";
import { v2Page } from "../shapes";
import type { Transport, TransportRequest } from "../transport";

/** Longest succession of empty pages; a service without a last page would otherwise be read for ever. */
const maxEmptyPages = 100;

const elementsShape = (key: string | undefined) => {
  const arrayShape = z.array(z.unknown());
  return key === undefined
    ? arrayShape
    : z.looseObject({ [key]: arrayShape }).transform((response) => response[key] ?? []);
};

/** Options of a request whose response several calls share: the deadline and the cancellation of one must not affect the others. */
export function sharedOptions(options: CallOptions | undefined): CallOptions {
  const { signal: _s, waitSignal: _w, timeout: _d, onDeadline: _o, onComplete: _c, ...rest } = options ?? {};
  return rest;
}

/** Waits for a request that several calls share, until its response arrives or the timeout or a signal of this call ends the wait. */
export function untilEnded<Response>(
  pending: Promise<Response>,
  request: RequestInfo,
  { signal, waitSignal = signal, timeout = maxTimerDelay }: CallOptions = {},
): Promise<Response> {
  return new Promise((resolve, reject) => {
    requireTimeout(timeout, request);
    const expire = (): void => reject(unambiguous(noResponse(timeout, request, true)));
    const timer = setTimeout(expire, Math.min(maxTimerDelay, timeout));
    untilAborted(pending, waitSignal)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

/** A request that is sent once and shared by all calls of a deployment; a failed one is not cached. */
export function sharedRequest<Response>(request: RequestInfo, send: (options: CallOptions) => Promise<Response>) {
  let cached: Promise<Response> | undefined;
  return (options: CallOptions | undefined): Promise<Response> => {
    const pending = cached ?? send(sharedOptions(options));
    cached = pending;
    pending.catch(() => {
      if (cached === pending) cached = undefined;
    });
    return untilEnded(pending, request, options);
  };
}

/** The address of a collection, and those of its objects, which throw an ApiError for an id that no object can have. */
export function collection(baseUrl: string, path: string, noun: string) {
  const url = `${baseUrl}/${path}`;
  return { url, of: (method: string, id: string) => `${url}/${pathSegment(id, noun, { method, url })}` };
}

/** The service's error for an endpoint whose template does not exist. */
export const templateNotFound = (id: string, request: RequestInfo): ApiError =>
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
    return parseResponse(response.body, shape, requestInfo(request), facts);
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
      const info = requestInfo(request);
      const path = key === undefined ? [] : [key];
      const records: z.output<Shape>[] = [];
      const cursors = new Set<string>();
      let emptyPages = 0;
      for (let address = url; ; ) {
        const { body: response, status } = await transport.send({ ...request, url: address }, options);
        const elements = parseResponse(response, elementsShape(key), info, { ambiguous: false, status });
        records.push(...parseElements(elements, shape, info, { path, status, onUnreadable: options?.onUnreadable }));
        if (key === undefined) return records;
        const { pagination } = parseResponse(response, v2Page, info, { ambiguous: false, status });
        if (pagination?.hasNextPage === false) options?.onComplete?.();
        if (!pagination?.hasNextPage) return records;
        emptyPages = elements.length === 0 ? emptyPages + 1 : 0;
        if (emptyPages === maxEmptyPages)
          throw unexpectedResponse('"pagination" in the response has no end', info, false, status);
        const { nextCursor } = pagination;
        if (!nextCursor || cursors.has(nextCursor)) {
          const problem = nextCursor ? "repeats a cursor" : "has no cursor for the next page";
          throw unexpectedResponse(`"pagination" in the response ${problem}`, info, false, status);
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
        const isApplied = wasApplied(body, response.body);
        if (isApplied !== undefined) return isApplied ? response : undefined;
        throw unexpectedResponse("the response does not show the change", requestInfo({ method: "GET", url }), true);
      },
    }),

    async remove(url: string, options: CallOptions | undefined): Promise<void> {
      const request = { method: "DELETE", url, idempotent: true } as const;
      const { status, text, body } = await transport.send(request, options);
      // A page of another server, such as a sign-in page, deletes nothing.
      if (text.trim() !== "" && body === undefined)
        throw unexpectedResponse("response is not valid JSON", requestInfo(request), false, status);
    },
  };
}

export type RestCalls = ReturnType<typeof createRestCalls>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown): boolean =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0);

const textOf = (value: unknown): string => JSON.stringify(value) ?? "";

/** Returns whether two lists have the same elements in any order. */
const hasSameElements = (sent: readonly unknown[], reported: readonly unknown[]): boolean =>
  isDeepStrictEqual([...sent].map(textOf).sort(), [...reported].map(textOf).sort());

/** Keys whose values are maps, which a PATCH replaces completely. */
const mapKeys = ["env"];

/** Compares each sent value with the record; values missing from the record are skipped. */
function compareValues(sent: Record<string, unknown>, reported: Record<string, unknown>): boolean[] {
  return Object.entries(sent).flatMap(([key, value]) => {
    if (value === undefined || !(key in reported)) return [];
    const reportedValue = reported[key];
    if (isEmpty(value) && isEmpty(reportedValue)) return [true];
    if (isObject(value) && isObject(reportedValue) && !mapKeys.includes(key))
      return compareValues(value, reportedValue);
    if (Array.isArray(value) && Array.isArray(reportedValue)) {
      // Responses add the memory to each CPU choice.
      const elements = reportedValue.map((item) =>
        isObject(item) ? { id: item["id"], vcpuCount: item["vcpuCount"] } : item,
      );
      return [hasSameElements(value, elements)];
    }
    return [isDeepStrictEqual(value, reportedValue)];
  });
}

/**
 * Returns whether a PATCH with this body was applied, by the record returned by a read. A PATCH of REST v2 is atomic, so a single
 * different value proves that it was not. Undefined if the record contains none of the values.
 */
export function wasApplied(body: object, record: unknown): boolean | undefined {
  if (!isObject(record)) return undefined;
  const results = compareValues({ ...body }, record);
  return results.length === 0 ? undefined : results.every(Boolean);
}

import { z } from "zod";
import { StartError } from "../errors";
import { apiKeyFileOf, readApiKey } from "../store/api-key";
import { readServiceAddress } from "../store/service-address";
import type { Output } from "./output";

/** The response to one request. */
interface ServiceResponse {
  status: number;
  /** The body as the service sent it. */
  text: string;
  /** The parsed body; undefined if it is not JSON. */
  json: unknown;
  /** Value of Retry-After, s; 1 without this header. */
  retryAfter: number;
}

/** Sends one request to the service of a data folder; `body` is JSON text. */
export type Send = (method: "GET" | "POST" | "PUT", path: string, body?: string) => Promise<ServiceResponse>;

/** Default response timeout, ms. */
const defaultTimeout = 10_000;

/**
 * Returns a signal that aborts after `ms`, and with `signal`. In Node 20, the garbage collector may remove an `AbortSignal.timeout` in an
 * `AbortSignal.any`, which then never aborts.
 */
export function timeoutSignal(ms: number, signal: AbortSignal): AbortSignal {
  const timeout = new AbortController();
  setTimeout(() => timeout.abort(), ms).unref();
  return AbortSignal.any([timeout.signal, signal]);
}

/**
 * Connects to the service that runs on a data folder. Throws a StartError if none runs, if it does not respond within `timeout` ms,
 * or if it rejects the folder's key. Requests reject with the reason of the signal if it aborts.
 */
export function connect(
  dataFolder: string,
  timeout = defaultTimeout,
  signal?: AbortSignal,
): { serviceUrl: string; send: Send } {
  const address = readServiceAddress(dataFolder);
  const key = readApiKey(dataFolder);
  if (address === undefined || key === undefined)
    throw new StartError(`no service uses the folder ${dataFolder}; start one, or pass its folder with --data`, {
      retryable: true,
    });
  const { serverlessUrl: serviceUrl, pid } = address;
  const send: Send = async (method, path, body) => {
    const request = {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body }),
      redirect: "manual",
      signal: signal ? timeoutSignal(timeout, signal) : AbortSignal.timeout(timeout),
    } as const;
    const receive = async () => {
      const response = await fetch(serviceUrl + path, request);
      return { response, text: await response.text() };
    };
    const { response, text } = await receive().catch(() => {
      signal?.throwIfAborted();
      throw new StartError(
        `the service on ${serviceUrl} does not respond; stop its process ${pid} and start it again`,
        { retryable: true },
      );
    });
    if (response.status === 401)
      throw new StartError(
        `the service on ${serviceUrl} rejects the key in ${apiKeyFileOf(dataFolder)}; pass that service's folder with --data`,
      );
    const retryAfter = Number(response.headers.get("retry-after") ?? 1);
    return { status: response.status, text, json: parseJson(text), retryAfter };
  };
  return { serviceUrl, send };
}

const errorShape = z.looseObject({
  error: z.looseObject({ message: z.string() }).or(z.string()).optional(),
  message: z.string().optional(),
});

/** The service's message in the response to a failed request. */
export function messageIn({ json, text }: ServiceResponse): string {
  const { error, message } = errorShape.safeParse(json).data ?? {};
  return typeof error === "object" ? error.message : (error ?? message ?? text);
}

/** Returns a successful response; throws a StartError with the message of any other. */
export function expectSuccess(response: ServiceResponse): ServiceResponse {
  if (response.status === 200) return response;
  throw new StartError(messageIn(response), { retryable: response.status >= 500 });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const linkShape = z.object({ url: z.url() });

/** Prints a new link to the console of the service that runs on a data folder. */
export async function printConsoleLink(data: string, output: Output): Promise<void> {
  const { serviceUrl, send } = connect(data);
  const { status, json } = await send("POST", "/console/links");
  if (status === 404)
    throw new StartError(`the service on ${serviceUrl} has no console; start it again without --no-console`);
  const link = linkShape.safeParse(json);
  if (status !== 200 || !link.success)
    throw new StartError(`the service on ${serviceUrl} returned ${status} instead of a link`);
  output.out(link.data.url);
}

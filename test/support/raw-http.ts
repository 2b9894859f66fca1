import { type ClientRequest, type IncomingMessage, request as openRequest } from "node:http";
import { text } from "node:stream/consumers";
import type { Service } from "serverless-compute-local";
import { expect } from "vitest";

/** Addresses and key of a service. */
export type Access = Pick<Service, "apiKey" | "baseUrl" | "graphqlUrl" | "serverlessUrl">;

/** A complete response. `request` describes the request without keys. */
export interface RawResponse {
  request: string;
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined if it is empty or not JSON. */
  json: unknown;
  /** Milliseconds from the send to the end of the response. */
  duration: number;
}

/** Parts of a request other than method and URL. */
export interface RequestOptions {
  /** API key, sent as `Authorization: Bearer`. */
  key?: string | undefined;
  headers?: Record<string, string>;
  /** A JSON body. */
  json?: unknown;
  /** A raw body, instead of `json`. */
  text?: string;
  signal?: AbortSignal;
}

/** Headers, or a raw body instead of JSON. */
export type Sending = Omit<RequestOptions, "key" | "json">;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const withoutKey = (url: string): string => url.replace(/api_key=[^&]*/, "api_key=…");

/** Sends a request without our client, retries or redirects. */
export async function send(method: string, url: string, options: RequestOptions = {}): Promise<RawResponse> {
  const body = options.text ?? (options.json === undefined ? undefined : JSON.stringify(options.json));
  const startTime = Date.now();
  const response = await fetch(url, {
    method,
    redirect: "manual",
    headers: {
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body }),
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const text = await response.text();
  return {
    request: `${method} ${withoutKey(url)}`,
    status: response.status,
    headers: response.headers,
    text,
    json: parseJson(text),
    duration: Date.now() - startTime,
  };
}

/** Sends a GET request with a Host header, which fetch does not allow. Returns status and body. */
export function getWithHost(url: string, host: string, headers = {}): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const clientRequest = openRequest(url, { headers: { ...headers, host }, agent: false }, async (response) =>
      resolve({ status: response.statusCode ?? 0, text: await text(response) }),
    );
    clientRequest.once("error", reject).end();
  });
}

/** A request whose body stays incomplete, and in flight, until it is finished. */
export interface OpenUpload {
  /** Status of the response; 0 if the connection ended without one. */
  status: Promise<number>;
  finish(): void;
  abort(): void;
}

/** Sends the head of a POST and its JSON body without the last byte. */
export async function openUpload(url: string, key: string, json: unknown): Promise<OpenUpload> {
  const body = Buffer.from(JSON.stringify(json));
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-length": body.length,
    connection: "close",
  };
  const upload: ClientRequest = openRequest(url, { method: "POST", headers, agent: false });
  const status = new Promise<number>((resolve) => {
    upload.on("response", (response: IncomingMessage) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    upload.on("error", () => resolve(0));
  });
  // Written data is in the kernel, so the service reads the head before later requests of other connections.
  await new Promise<void>((resolve) => {
    upload.write(body.subarray(0, -1), () => resolve());
  });
  return { status, finish: () => upload.end(body.subarray(-1)), abort: () => upload.destroy() };
}

/** Asserts the status and the body's contents; a failure shows the request and the whole response. */
export function expectResponse(response: RawResponse, status: number | number[], body?: unknown): void {
  const description = `${response.request} answered ${response.status} ${response.text.slice(0, 400)}`;
  expect([status].flat(), description).toContain(response.status);
  if (body !== undefined) expect(response.json, description).toMatchObject(body instanceof Object ? body : { body });
}

/** The value at a path of a parsed body; undefined if the path does not exist. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner instanceof Object ? Reflect.get(inner, key) : undefined), value);
}

/** The string at a path of a response's body; fails with the whole response if it is missing. */
export function stringAt(response: RawResponse, ...path: (string | number)[]): string {
  const value = at(response.json, ...path);
  if (typeof value === "string") return value;
  throw new Error(
    `${response.request} returned ${response.status} ${response.text.slice(0, 400)}: no string at ${path.join(".")}`,
  );
}

/** Repeats a request every 20 ms until `done` returns true. Fails with the last response after `limit` ms. */
export async function pollUntil(
  request: () => Promise<RawResponse>,
  done: (response: RawResponse) => boolean,
  timeout = 15_000,
): Promise<RawResponse> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const response = await request();
    if (done(response)) return response;
    if (Date.now() > deadline) {
      throw new Error(
        `after ${timeout} ms ${response.request} still returns ${response.status} ${response.text.slice(0, 400)}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

import { type ClientRequest, type IncomingMessage, request as openRequest } from "node:http";
import { expect } from "vitest";

/** A complete response. `request` describes the request without keys. */
export interface Answer {
  request: string;
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined if it is empty or not JSON. */
  json: unknown;
  /** Milliseconds from the send to the end of the response. */
  took: number;
}

/** Parts of a request other than method and URL. */
export interface Sending {
  /** API key, sent as `Authorization: Bearer`. */
  key?: string | undefined;
  headers?: Record<string, string>;
  /** A JSON body. */
  json?: unknown;
  /** A raw body, instead of `json`. */
  text?: string;
  signal?: AbortSignal;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const withoutKey = (url: string): string => url.replace(/api_key=[^&]*/, "api_key=…");

/** Sends one request without our client, a retry or a redirect. */
export async function send(method: string, url: string, sending: Sending = {}): Promise<Answer> {
  const body = sending.text ?? (sending.json === undefined ? undefined : JSON.stringify(sending.json));
  const started = Date.now();
  const answer = await fetch(url, {
    method,
    redirect: "manual",
    headers: {
      ...(sending.key === undefined ? {} : { authorization: `Bearer ${sending.key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...sending.headers,
    },
    ...(body === undefined ? {} : { body }),
    ...(sending.signal ? { signal: sending.signal } : {}),
  });
  const text = await answer.text();
  return {
    request: `${method} ${withoutKey(url)}`,
    status: answer.status,
    headers: answer.headers,
    text,
    json: parsed(text),
    took: Date.now() - started,
  };
}

/** A request whose body stays incomplete, and in flight, until it is finished. */
export interface OpenUpload {
  /** Status of the response; 0 if the connection ended without one. */
  status: Promise<number>;
  finish(): void;
  abort(): void;
}

/** Sends the head of a POST and all of its JSON body but the last byte. */
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
    upload.on("response", (answer: IncomingMessage) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
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
export function expectAnswer(answer: Answer, status: number | number[], body?: unknown): void {
  const told = `${answer.request} answered ${answer.status} ${answer.text.slice(0, 400)}`;
  expect([status].flat(), told).toContain(answer.status);
  if (body !== undefined) expect(answer.json, told).toMatchObject(body instanceof Object ? body : { body });
}

/** The value at a path of a parsed body, undefined where the path ends early. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner instanceof Object ? Reflect.get(inner, key) : undefined), value);
}

/** The string at a path of a response's body; fails with the whole response if it is missing. */
export function stringAt(answer: Answer, ...path: (string | number)[]): string {
  const value = at(answer.json, ...path);
  if (typeof value === "string") return value;
  throw new Error(
    `${answer.request} answered ${answer.status} ${answer.text.slice(0, 400)}: no string at ${path.join(".")}`,
  );
}

/** Repeats a request every 20 ms until `done` returns true. Fails with the last response after `limit` ms. */
export async function askUntil(
  ask: () => Promise<Answer>,
  done: (answer: Answer) => boolean,
  limit = 15_000,
): Promise<Answer> {
  const end = Date.now() + limit;
  for (;;) {
    const answer = await ask();
    if (done(answer)) return answer;
    if (Date.now() > end) {
      throw new Error(
        `after ${limit} ms ${answer.request} still answers ${answer.status} ${answer.text.slice(0, 400)}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

import { createServer, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type ClientSettings, type Clock, createClients, followWorkerLog, isApiError } from "serverless-compute-api";
import { expect, onTestFinished, test } from "vitest";
import { createEventReader } from "../../../api/worker-logs";
import { closeServer, listenOnLoopback } from "../../support/loopback";

type Responder = (response: ServerResponse, lastEventId: string | undefined) => Promise<void> | void;

/** A clock whose waits end immediately. */
const fastClock: Clock = { now: () => 0, sleep: async () => undefined };

/** Follows a log whose responses are sent by these functions, one for each request; the last one repeats. */
async function follow(responders: Responder[], settings: Partial<ClientSettings> = {}, callbacks: object = {}) {
  const positions: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const position = request.headers["last-event-id"];
    const responder = responders[Math.min(positions.length, responders.length - 1)];
    positions.push(typeof position === "string" ? position : undefined);
    void responder?.(response, positions.at(-1));
  });
  const origin = await listenOnLoopback(server);
  const addresses = { baseUrl: `${origin}/v2`, graphqlUrl: origin, serverlessUrl: origin };
  const clients = createClients({ apiKey: "sck-of-the-test", ...addresses, ...settings });
  onTestFinished(async () => {
    await clients.close();
    await closeServer(server);
  });
  const lines: string[] = [];
  const { signal } = new AbortController();
  const result = await followWorkerLog(clients, ["ep1", "w1"], {
    tail: 10,
    after: undefined,
    signal,
    onOpen: () => undefined,
    onLine: ({ line }) => void lines.push(line),
    clock: fastClock,
    ...callbacks,
  }).then(
    (position) => ({ position }),
    (error: unknown) => ({ code: isApiError(error) ? error.code : String(error) }),
  );
  return { lines, positions, ...result };
}

const head = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" });
const time = (second: number): string => `2026-11-28T10:00:0${second}.000000000Z`;
const data = (second: number, line: string): string => JSON.stringify({ source: "container", line, ts: time(second) });
const event = (second: number, line: string): string => `id: ${time(second)}\ndata: ${data(second, line)}\n\n`;

const cutBeforeLine: Responder = (response) => void head(response).write(":\n\n", () => response.socket?.destroy());

test.each<[string, string, string[]]>([
  ["LF", event(1, "one") + event(2, "two"), ["one", "two"]],
  ["CRLF", (event(1, "one") + event(2, "two")).replaceAll("\n", "\r\n"), ["one", "two"]],
  ["CR", `${(event(1, "one") + event(2, "two")).replaceAll("\n", "\r")}:\n`, ["one", "two"]],
  ["comments and fields that it does not know", `:\n\nretry: 5\nevent: line\n${event(1, "one")}:end\n\n`, ["one"]],
  ["events without an id", `data: ${data(1, "one")}\n\ndata:${data(2, "two")}\n\n`, ["one", "two"]],
  ["lines of the same time", event(1, "one") + event(1, "two") + event(1, "one"), ["one", "two", "one"]],
  ["lines of the same time without an id", `data: ${data(1, "one")}\n\ndata: ${data(1, "two")}\n\n`, ["one", "two"]],
  ["data in several lines", `data: {"source":"container",\ndata: "line":"one","ts":"${time(1)}"}\n\n`, ["one"]],
  ["data that is no line", `data: {}\n\ndata: text\n\n${event(1, "one")}`, ["one"]],
  ["characters of several bytes", event(1, "Grüße, 世界 🚀"), ["Grüße, 世界 🚀"]],
  ["an incomplete event at the end", `${event(1, "one")}id: x\ndata: ${data(2, "two")}`, ["one"]],
])("reads a stream byte by byte: %s", async (_what, text, lines) => {
  const result = await follow([
    async (response) => {
      head(response);
      for (const byte of Buffer.from(text)) {
        response.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    },
  ]);
  expect(result.lines).toEqual(lines);
});

test("reads a line of many parts without reading its beginning again for each part", () => {
  const text = event(1, "x".repeat(8_000_000));
  /** Time in which an event is read in parts of this length, ms. */
  function timeOf(length: number): number {
    const events: unknown[] = [];
    const readPart = createEventReader((read) => events.push(read));
    const startTime = performance.now();
    for (let start = 0; start < text.length; start += length) readPart(text.slice(start, start + length));
    const time = performance.now() - startTime;
    expect(events).toHaveLength(1);
    return time;
  }
  // Otherwise, half of it is read again for each of the 4,000 parts.
  expect(timeOf(2000)).toBeLessThan(1000 * timeOf(text.length));
});

test("has no time limit after the head of the response", async () => {
  const result = await follow(
    [
      async (response) => {
        head(response).write(":\n\n");
        await delay(2_000);
        response.end(event(1, "late"));
      },
    ],
    { attemptTimeout: 1_500, callTimeout: 1_500 },
  );
  expect(result).toEqual({ lines: ["late"], positions: [undefined], position: time(1) });
});

test.each<[string, Responder]>([
  ["is cut", (response) => void head(response).write(event(1, "one"), () => response.socket?.destroy())],
  [
    "is cut within an event",
    (response) => {
      head(response).write(`${event(1, "one")}id: ${time(2)}\ndata: {"li`, () => response.socket?.destroy());
    },
  ],
])("continues after the last line if the connection %s", async (_what, responder) => {
  const result = await follow([responder, (response) => void head(response).end(event(2, "two"))]);
  expect(result).toEqual({ lines: ["one", "two"], positions: [undefined, time(1)], position: time(2) });
});

test.each<[string, Responder, object]>([
  ["while the connection is lost between lines", cutBeforeLine, { lines: ["late"], position: time(1) }],
  ["up to 20 successive failures", (response) => void response.writeHead(500).end(), { code: "server_error" }],
])("continues %s", async (_when, responder, end) => {
  const late: Responder = (response) => void head(response).end(event(1, "late"));
  const result = await follow([...Array(40).fill(responder), late]);
  expect(result).toMatchObject(end);
  expect(result.positions).toHaveLength("code" in end ? 21 : 41);
});

test("omits the last line if the service sends it once more after a lost connection", async () => {
  const result = await follow([
    (response) => void head(response).write(event(1, "one"), () => response.socket?.destroy()),
    (response) => void head(response).end(event(1, "one") + event(2, "two")),
  ]);
  expect(result).toMatchObject({ lines: ["one", "two"], position: time(2) });
});

test("continues after an error of the service", async () => {
  const result = await follow([
    (response) => void response.writeHead(500).end(),
    (response) => void head(response).end(event(1, "one")),
  ]);
  expect(result).toMatchObject({ lines: ["one"], position: time(1) });
});

test.each([
  ["without an error if the worker does not exist", 404, { position: undefined }],
  ["with the code of a rejected key", 401, { code: "unauthorized" }],
])("ends %s", async (_how, status, end) => {
  const result = await follow([(response) => void response.writeHead(status).end('{"detail":"resource not found"}')]);
  expect(result).toEqual({ lines: [], positions: [undefined], ...end });
});

test.each(["onOpen", "onLine"])("rejects with an error that the caller's %s throws", async (name) => {
  const fault = new Error("disk full");
  const result = await follow(
    [(response) => void head(response).end(event(1, "one"))],
    {},
    {
      [name]: () => {
        throw fault;
      },
    },
  );
  expect(result).toMatchObject({ code: String(fault), positions: [undefined] });
});

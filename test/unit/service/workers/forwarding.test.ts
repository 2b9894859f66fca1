import { readFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { checkHealth } from "../../../../service/workers/worker-server";
import { apiKey } from "../../../support/local-service";
import { at } from "../../../support/raw-http";
import { type LoadBalancer, useLoadBalancer } from "./support/load-balancer";
import { useRelayedWorker } from "./support/relayed-worker";

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const authorization = `Authorization: Bearer ${apiKey}`;

/** Opens a connection to the service and sends bytes. */
function open({ url }: Pick<LoadBalancer, "url">, bytes: string): Socket {
  const { port } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1").on("error", () => undefined);
  socket.write(bytes, "latin1");
  onTestFinished(() => void socket.destroy());
  return socket;
}

const messageOf = (...lines: string[]): string => `${lines.join("\r\n")}\r\n\r\n`;

/** Sends a request and returns the worker's view of it. */
async function received(balancer: LoadBalancer, target: string, headers: string[], body = ""): Promise<unknown> {
  const response = await text(
    open(balancer, `${messageOf(`GET ${target} HTTP/1.1`, authorization, "Connection: close", ...headers)}${body}`),
  );
  expect(response).toMatch(/^HTTP\/1.1 200 /);
  return JSON.parse(response.slice(response.indexOf("{"), response.lastIndexOf("}") + 1));
}

test("a target in absolute form reaches the worker with its path, and its host replaces the header Host", async () => {
  const balancer = await useLoadBalancer();
  const { pathname } = new URL(balancer.url);
  const headers = { host: "named:81", "x-forwarded-host": "named:81", "x-forwarded-prefix": pathname };
  for (const [rest, url] of [
    ["/a?b=http://c/d", "/a?b=http://c/d"],
    ["?b", "/?b"],
    ["", "/"],
  ])
    expect(await received(balancer, `http://user@named:81${pathname}${rest}`, ["Host: other"])).toMatchObject({
      url,
      headers,
    });
  expect(await text(open(balancer, messageOf("GET HTTP://named HTTP/1.1", "Host: a", "Connection: close")))).toContain(
    "route GET / not found",
  );
});

test("the service writes Host, the framing of the body, and X-Forwarded headers itself, whatever the client sends", async () => {
  const balancer = await useLoadBalancer();
  const { pathname } = new URL(balancer.url);
  const forged = ["For", "Host", "Proto", "Prefix", "Port"].map((name) => `X-Forwarded-${name}: forged`);
  const headers = ["Host: here", "Forwarded: for=forged", ...forged, "X-Mine: 1", "Content-Length: 4"];
  const named = "Connection: host, content-length, x-mine, x-forwarded-for";
  const seen = await received(balancer, `${pathname}/`, [...headers, named], "GET ");
  expect(seen).toMatchObject({ body: { bytes: 4 } });
  expect(at(seen, "headers")).toEqual({
    host: "here",
    connection: "close",
    "content-length": "4",
    "x-forwarded-for": "127.0.0.1",
    "x-forwarded-host": "here",
    "x-forwarded-proto": "http",
    "x-forwarded-prefix": pathname,
  });
});

test("pipelined upgrades are served after the responses to earlier requests", async () => {
  const balancer = await useLoadBalancer();
  const { pathname } = new URL(balancer.url);
  const get = messageOf(`GET ${pathname}/?bytes=3000000 HTTP/1.1`, "Host: a", authorization);
  const webSocket = (path: string, ...more: string[]) =>
    messageOf(`GET ${path} HTTP/1.1`, "Host: a", "Connection: upgrade", "Upgrade: websocket", ...more);
  const upgraded = open(balancer, get + get + webSocket(`${pathname}/socket`, authorization));
  let responses = "";
  for await (const part of upgraded) {
    responses += String(part);
    if (responses.includes("x-path: /socket")) break;
  }
  expect(responses.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 101"]);
  const rejected = open(balancer, messageOf("GET /healthz HTTP/1.1", "Host: a") + webSocket("/load-balancers/x"));
  expect((await text(rejected)).match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 401"]);
  const http2 = ["Host: a", "Connection: upgrade", "Upgrade: h2c"];
  const ignored = open(
    balancer,
    get +
      messageOf("GET /healthz HTTP/1.1", ...http2) +
      messageOf("GET /readyz HTTP/1.1", ...http2) +
      messageOf("GET /healthz HTTP/1.1", "Host: a", "Connection: close"),
  );
  expect((await text(ignored)).match(/HTTP\/1.1 \d+/g)).toEqual(Array(4).fill("HTTP/1.1 200"));
});

test("a client that resets its connection leaves no request at the worker and no internal error in the log", async () => {
  const balancer = await useLoadBalancer({ workers: { min: 1, max: 1 } }, {}, { logLevel: "info" });
  const { pathname } = new URL(balancer.url);
  await expect.poll(balancer.workers).toMatchObject([{ status: "IDLE" }]);
  const get = messageOf(`GET ${pathname}/?ms=600000 HTTP/1.1`, "Host: a", authorization);
  for (let attempt = 0; attempt < 20; attempt++) {
    const socket = open(balancer, get + get);
    await new Promise((resolve) => socket.once("connect", resolve));
    socket.resetAndDestroy();
  }
  const pipelined = open(balancer, get + get);
  await expect.poll(balancer.workers).toMatchObject([{ status: "RUNNING" }]);
  pipelined.resetAndDestroy();
  await expect.poll(balancer.workers).toMatchObject([{ status: "IDLE" }]);
  expect(readFileSync(join(balancer.rig.dataFolder, "service.log"), "utf8")).not.toContain('"level":50');
});

const switching = messageOf("HTTP/1.1 101 OK", "Connection: upgrade", "Upgrade: other");

test.each([
  ["HTTP/1.1 099 X\r\n\r\n", 502, "its response has the status 99"],
  ["HTTP/1.1 000 X\r\n\r\n", 502, "its response has the status 0"],
  ["HTTP/1.1 101 X\r\n\r\n", 502, "its response has the status 101"],
  [switching, 502, "its response has the status 101"],
  ["HTTP/1.1 999 X\r\ncontent-length: 0\r\n\r\n", 999, ""],
  ["HTTP/1.1 200 a\u0001b\r\ncontent-length: 0\r\n\r\n", 200, ""],
  ["HTTP/1.1 200 OK\r\nx-worker-id: forged\r\nconnection: x-worker-id\r\ncontent-length: 0\r\n\r\n", 200, ""],
  ["HTTP/1.1 200 OK\r\nx: a\u0001b\r\ncontent-length: 0\r\n\r\n", 502, ""],
  ["", 502, "socket hang up"],
])("a worker that sends %j causes a response %d", async (bytes, status, error) => {
  const balancer = await useRelayedWorker((socket) => socket.once("data", () => socket.end(bytes, "latin1")));
  const { pathname } = new URL(balancer.url);
  const head = [`GET ${pathname}/ HTTP/1.1`, "Host: a", authorization, "Connection: close"];
  const response = await text(open(balancer, messageOf(...head)));
  expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(response).toContain(error);
  expect(response).not.toContain("forged");
  await expect.poll(balancer.workers).toMatchObject([{ status: "IDLE" }]);
});

test("a worker's large response to an upgrade that it rejects arrives completely", async () => {
  const head = messageOf("HTTP/1.1 403 Forbidden", "content-length: 8000000");
  const balancer = await useRelayedWorker((socket) => socket.once("data", () => socket.end(head + "x".repeat(8e6))));
  const { pathname } = new URL(balancer.url);
  const upgrade = [`GET ${pathname}/ HTTP/1.1`, "Host: a", authorization, "Connection: upgrade", "Upgrade: websocket"];
  const response = await text(open(balancer, `${messageOf(...upgrade)}more`));
  expect(response).toMatch(/^HTTP\/1.1 403 /);
  expect(response.length).toBeGreaterThan(8e6);
});

test.each([
  ["HTTP/1.1 200 OK\r\n\r\n", /^200$/],
  ["HTTP/1.1 099 X\r\n\r\n", /^99$/],
  [switching, /no response/],
  ["HTTP/1.1 2", /socket hang up/],
  ["\u0000", /Parse Error/],
  ["", /socket hang up/],
])("a health check that receives %j ends", async (bytes, result) => {
  const server = createServer((socket) => socket.once("data", () => socket.end(bytes)).on("error", () => undefined));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const port = Number(at(server.address(), "port"));
  expect(String(await checkHealth({ host: "127.0.0.1", port, healthPort: port, healthPath: "/ping" }))).toMatch(result);
});

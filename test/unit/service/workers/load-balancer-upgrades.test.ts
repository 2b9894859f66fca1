import { type IncomingMessage, request as send } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { expect, test, vi } from "vitest";
import { apiKey } from "../../../support/local-service";
import { OffsetClock } from "../../../support/offset-clock";
import { type LoadBalancer, useLoadBalancer } from "./support/load-balancer";

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

/** Requests a WebSocket; resolves with the response, and with the connection if the upgrade was accepted. */
function upgrade({ url }: LoadBalancer, path: string, key = apiKey) {
  const headers = { authorization: `Bearer ${key}`, connection: "Upgrade", upgrade: "WebSocket" };
  return new Promise<{ response: IncomingMessage; socket?: Duplex }>((resolve, reject) => {
    const clientRequest = send(`${url}${path}`, { headers });
    clientRequest.on("upgrade", (response, socket) => resolve({ response, socket }));
    clientRequest.on("response", (response) => {
      response.resume();
      resolve({ response });
    });
    clientRequest.on("error", reject).end();
  });
}

/** Opens a WebSocket. */
async function openSocket(balancer: LoadBalancer, path: string) {
  const { response, socket } = await upgrade(balancer, path);
  if (!socket) throw new Error(`the upgrade was rejected with ${response.statusCode}`);
  return { socket, response };
}

/** The next bytes from a connection. */
const read = (socket: Duplex): Promise<string> =>
  new Promise((resolve) => socket.once("data", (data: Buffer) => resolve(data.toString())));

test("a WebSocket reaches a worker, which counts it as a request until it ends", async () => {
  const balancer = await useLoadBalancer();
  const { response, socket } = await openSocket(balancer, "/socket?a=b");
  expect([response.statusCode, response.headers["x-path"]]).toEqual([101, "/socket?a=b"]);
  socket.write("first");
  expect(await read(socket)).toBe("first");
  socket.write("second");
  expect(await read(socket)).toBe("second");
  expect(await balancer.workers()).toMatchObject([{ status: "RUNNING" }]);
  socket.end();
  await expect.poll(balancer.workers).toMatchObject([{ status: "IDLE" }]);
});

test("a WebSocket ends with its worker and at the time limit", async () => {
  const clock = new OffsetClock();
  const balancer = await useLoadBalancer({ workers: { min: 0, max: 2 } }, { requestProcessing: 60_000 }, { clock });
  const workerIds = async () => (await balancer.workers()).map(({ id }) => id);
  const ended = (socket: Duplex) =>
    new Promise((resolve) =>
      socket
        .on("error", () => undefined)
        .on("close", resolve)
        .resume(),
    );
  const first = await openSocket(balancer, "/");
  const [firstId] = await workerIds();
  await Promise.all([ended(first.socket), balancer.request("/?die")]);
  // A request that arrives between the end of the connection and the end of the process receives 502.
  await expect.poll(workerIds).not.toContain(firstId);
  const second = await openSocket(balancer, "/");
  await Promise.all([ended(second.socket), clock.advance(60_000)]);
  await expect
    .poll(balancer.workers)
    .toSatisfy((all: { status: string }[]) => all.every(({ status }) => status === "IDLE"));
});

test("an upgrade that is rejected by the worker, lacks a key or is for another endpoint receives a normal response", async () => {
  const balancer = await useLoadBalancer();
  expect((await upgrade(balancer, "/refused")).response).toMatchObject({ statusCode: 403 });
  expect((await upgrade(balancer, "/", "wrong")).response).toMatchObject({ statusCode: 401 });
  expect((await upgrade({ ...balancer, url: `${balancer.rig.root}/load-balancers/none` }, "/")).response).toMatchObject(
    {
      statusCode: 404,
      headers: { connection: "close" },
    },
  );
  expect((await upgrade({ ...balancer, url: balancer.rig.root }, "/v1/endpoints")).response.statusCode).toBe(200);
  await expect.poll(balancer.workers).toMatchObject([{ status: "IDLE" }]);
});

test("an offer of HTTP/2 is ignored, and the request is served with its body", async () => {
  const { url } = await useLoadBalancer();
  const body = "x".repeat(200_000);
  const { host, hostname, port, pathname } = new URL(url);
  const head = [
    `POST ${pathname}/java HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${apiKey}`,
    "Connection: Upgrade, HTTP2-Settings",
    "Upgrade: h2c",
    "HTTP2-Settings: AAEAAEAA",
    `Content-Length: ${body.length}`,
  ];
  const socket = connect(Number(port), hostname);
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  let response = "";
  for await (const part of socket) {
    response += String(part);
    if (/"bytes":\d+/.test(response)) break;
  }
  expect(response).toMatch(/^HTTP\/1.1 200 .*"url":"\/java".*"bytes":200000/s);
});

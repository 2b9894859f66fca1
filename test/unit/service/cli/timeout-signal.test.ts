import { get } from "node:http";
import { createServer, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { timeoutSignal } from "../../../../service/cli/connection";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const sockets: Socket[] = [];
const silentServer = createServer((socket) => void sockets.push(socket));
let url: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => silentServer.listen(0, "127.0.0.1", resolve));
  const address = silentServer.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => silentServer.close(resolve));
});

type Request = (signal: AbortSignal) => Promise<unknown>;

describe.each<[string, Request]>([
  ["fetch", (signal) => fetch(url, { signal })],
  ["node:http", (signal) => new Promise((_, reject) => get(url, { signal }).on("error", reject))],
])("a request of %s without a response", (_name, request) => {
  /** Sends the request and collects garbage until it ends. */
  async function errorOf(signal: () => AbortSignal): Promise<unknown> {
    let error: unknown;
    request(signal()).catch((cause: unknown) => {
      error = cause;
    });
    await expect
      .poll(() => {
        collectGarbage();
        return error;
      })
      .toBeDefined();
    return error;
  }

  test("ends after the timeout, even if garbage is collected before", async () => {
    const { signal } = new AbortController();
    expect(await errorOf(() => timeoutSignal(200, signal))).toMatchObject({ name: "AbortError" });
    expect(signal.aborted).toBe(false);
  });

  test("ends with the other signal", async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 100);
    expect(await errorOf(() => timeoutSignal(600_000, stop.signal))).toMatchObject({ name: "AbortError" });
  });
});

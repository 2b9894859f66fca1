import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { watchEngine } from "../../../../provider/engine/watch";
import { listenOnLoopback } from "../../../support/loopback";

const servers: Server[] = [];
const sockets: Socket[] = [];
const stops: (() => void)[] = [];
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => {
  vi.useRealTimers();
  for (const stop of stops.splice(0)) stop();
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function listening(): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => sockets.push(socket));
  servers.push(server);
  return { server, port: Number(new URL(await listenOnLoopback(server)).port) };
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  await once(socket, "connect");
  return socket;
}

/** Watches the engine, and counts the reports of its end. */
function watch(server: Server, address: string): () => number {
  let count = 0;
  stops.push(
    watchEngine([server], address, () => {
      count += 1;
    }),
  );
  return () => count;
}

/** Polls a count; the intervals between the checks elapse immediately. */
const pollCount = (count: () => number) =>
  expect.poll(() => {
    vi.advanceTimersByTime(500);
    return count();
  });

/** Waits until a watch that begins now has checked a running engine twice; earlier watches have then checked as often. */
async function waitForTwoChecks(): Promise<void> {
  const [engine, provider] = [await listening(), await listening()];
  let checks = 0;
  engine.server.on("connection", () => {
    checks += 1;
  });
  watch(provider.server, `127.0.0.1:${engine.port}`);
  await pollCount(() => checks).toBeGreaterThanOrEqual(2);
}

describe("watching the engine", () => {
  it("reports its end once, after its connection broke and its address does not respond", async () => {
    const [engine, provider] = [await listening(), await listening()];
    const connection = await connected(provider.port);
    const goneCount = watch(provider.server, `127.0.0.1:${engine.port}`);
    engine.server.close();
    connection.destroy();
    await pollCount(goneCount).toBe(1);
    await waitForTwoChecks();
    expect(goneCount()).toBe(1);
  });

  it("considers it alive while it is connected, listens, or has no address", async () => {
    const [engine, silent, connectedTo, alone] = await Promise.all([
      listening(),
      listening(),
      listening(),
      listening(),
    ]);
    silent.server.close();
    await connected(connectedTo.port);
    const counts = [
      watch(alone.server, `127.0.0.1:${engine.port}`),
      watch(connectedTo.server, `127.0.0.1:${silent.port}`),
      watch(alone.server, "nowhere"),
    ];
    await waitForTwoChecks();
    expect(counts.map((count) => count())).toEqual([0, 0, 0]);
  });
});

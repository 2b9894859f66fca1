import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createQueueingServer } from "../../../../service/api/request-queue";

const request = "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";

/** Keeps the process busy, as a request does. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

async function listen(server: Server): Promise<() => Socket> {
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 });
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  if (port === undefined) throw new Error("no port");
  return () =>
    connect({ port, host: "127.0.0.1" })
      .setEncoding("utf8")
      .on("error", () => undefined);
}

/** The most responses that any connection of a burst had when each of them had its first one. */
async function mostBeforeAll(make: (begin: RequestListener) => Server): Promise<number> {
  const open = await listen(
    make((_request, response) => {
      work(0.5);
      response.end("ok");
    }),
  );
  const counts = Array.from({ length: 60 }, () => 0);
  const sockets = counts.map(open);
  await new Promise<void>((resolve) => {
    for (const [at, socket] of sockets.entries()) {
      socket.write(request);
      socket.on("data", () => {
        counts[at] = (counts[at] ?? 0) + 1;
        if (counts.includes(0)) socket.write(request);
        else resolve();
      });
    }
  });
  for (const socket of sockets) socket.destroy();
  return Math.max(...counts);
}

test("of a burst of connections none waits until others have had their second response", async () => {
  expect(await mostBeforeAll((begin) => createServer(begin))).toBeGreaterThan(10);
  expect(await mostBeforeAll((begin) => createQueueingServer({}, begin))).toBeLessThanOrEqual(2);
});

test("a request whose client left while it waited is not begun", async () => {
  const begun: (string | undefined)[] = [];
  const open = await listen(
    createQueueingServer({}, ({ url, destroyed }, response) => {
      begun.push(`${url}${destroyed ? " destroyed" : ""}`);
      work(0.5);
      response.end("ok");
    }),
  );
  const stay = Array.from({ length: 50 }, open);
  const leave = Array.from({ length: 50 }, open);
  for (const socket of leave)
    socket.once("connect", () => socket.write(request, () => setImmediate(() => socket.destroy())));
  const answered = stay.map((socket) =>
    once(
      socket.on("connect", () => socket.write(request)),
      "data",
    ),
  );
  await Promise.all(answered);
  for (const socket of stay) socket.destroy();
  expect(begun.filter((url) => url === "/").length).toBeLessThan(100);
  expect(begun.filter((url) => url !== "/")).toEqual([]);
});

test("requests begin while connections keep coming", async () => {
  let begun = 0;
  const open = await listen(
    createQueueingServer({}, (_request, response) => {
      begun++;
      response.end("ok");
    }),
  );
  let opened = 0;
  // Each connection opens the next one, so that some always wait to be accepted.
  const next = (): void => {
    opened++;
    const socket = open();
    socket.write(request.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"));
    socket.on("connect", () => opened < 1000 && next()).on("data", () => socket.destroy());
  };
  for (let at = 0; at < 20; at++) next();
  await expect.poll(() => begun).toBeGreaterThanOrEqual(1000);
});

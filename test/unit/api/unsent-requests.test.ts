import { createServer } from "node:http";
import { createServer as createRawServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { clientsAt, recordRetryDelays } from "../../support/client-rig";
import { closeServer, listenOnLoopback, serve, unusedOrigin } from "../../support/loopback";
import { volumeRecord } from "../../support/records";

const volume = { name: "v", size: 10, dataCenterId: "EU-RO-1" };

test("an unreachable service fails within three attempts and three seconds", async () => {
  const { clients, clock, failure } = clientsAt(await unusedOrigin());
  const { delays, onRetry } = recordRetryDelays();
  const start = clock.now();
  const error = await failure(clients.management.listEndpoints({ onRetry }));
  expect(error).toMatchObject({ category: "network", code: "connection_refused", ambiguous: false });
  expect(error.message).toContain("ECONNREFUSED");
  expect(delays).toHaveLength(2);
  expect(clock.now() - start).toBeLessThanOrEqual(3000);
  expect(clients.requestCount()).toBe(0);
});

test("a create waits for a service that is starting, because nothing was sent", async () => {
  const origin = await unusedOrigin();
  const { clients, result } = clientsAt(origin);
  let creates = 0;
  const server = createServer((_request, response) => {
    creates += 1;
    response.end(JSON.stringify(volumeRecord()));
  });
  onTestFinished(() => closeServer(server));
  const started: Promise<void>[] = [];
  const onRetry = () => {
    if (started.length > 0) return;
    started.push(new Promise((resolve) => server.listen(Number(new URL(origin).port), "127.0.0.1", resolve)));
  };
  await result(clients.management.createNetworkVolume(volume, { onRetry }));
  expect(creates).toBe(1);
  expect(clients.requestCount()).toBe(1);
});

test("a peer that does not speak HTTP fails immediately", async () => {
  const server = createRawServer((socket) => {
    socket.on("error", () => undefined);
    socket.resume().end("220 mail.example ESMTP\r\n");
  });
  const { clients, failure } = clientsAt(await listenOnLoopback(server));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const error = await failure(clients.management.listEndpoints());
  expect(error).toMatchObject({ category: "network", code: "not_http", retryable: false });
});

test("https to a service without TLS fails immediately as a TLS error", async () => {
  const origin = await serve(() => undefined);
  const { clients, failure } = clientsAt(origin.replace("http:", "https:"));
  const error = await failure(clients.management.createNetworkVolume(volume));
  expect(error).toMatchObject({ code: "not_tls", retryable: false, ambiguous: false });
  expect(clients.requestCount()).toBe(0);
});

test("a call after close rejects immediately", async () => {
  const { clients, failure } = clientsAt(await unusedOrigin());
  await clients.close();
  const error = await failure(clients.management.listEndpoints());
  expect(error).toMatchObject({ category: "network", code: "closed", retryable: false });
});

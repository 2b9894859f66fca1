import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from "node:http";
import { createServer, type Server } from "node:net";
import { onTestFinished } from "vitest";
import type { AtEnd } from "./folders";

/** Starts a server on a free loopback port. Returns its origin, `http://127.0.0.1:port`. */
export async function listenOnLoopback(server: Server): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server listens on no port");
  return `http://127.0.0.1:${address.port}`;
}

/** Starts an HTTP server on a free loopback port, which stops at the end. Returns its origin. */
export function serve(listener: RequestListener, atEnd: AtEnd = onTestFinished): Promise<string> {
  const server = createHttpServer(listener);
  atEnd(() => closeServer(server));
  return listenOnLoopback(server);
}

/**
 * Returns a free port below the range from which systems assign ports, so that no other process is assigned it, and above 10080,
 * to which `fetch` sends no requests.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_081 + Math.floor(Math.random() * 19_919);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer().once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

/** Returns an origin without a server. */
export const unusedOrigin = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`;

/** Stops a server immediately, even with requests in flight. */
export function closeServer(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

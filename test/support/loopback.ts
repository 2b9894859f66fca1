import type { Server } from "node:http";

/** Lets a server listen on a free port of this machine only; answers its origin, `http://127.0.0.1:port`. */
export async function listenOnLoopback(server: Server): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server listens on no port");
  return `http://127.0.0.1:${address.port}`;
}

/** Stops a server at once, also with requests in flight. */
export function shut(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

const { VERSION = "none", BREAKS = "", WARM_UP = "0", HOST = "127.0.0.1" } = process.env;
const { PORT, PORT_HEALTH, HEALTH_CHECK_PATH = "/ping" } = process.env;

if (BREAKS === "start") {
  console.error(`version ${VERSION} cannot start`);
  process.exit(3);
}

// Open requests are lost, so the service must wait for them before it stops the worker.
process.on("SIGTERM", () => process.exit(0));

let checks = 0;
let health = 200;
const healthStatus = () => {
  if (BREAKS === "health") return 500;
  return checks++ < Number(WARM_UP) ? 204 : health;
};

async function readBody(request) {
  let bytes = 0;
  let text = "";
  for await (const chunk of request) {
    bytes += chunk.length;
    if (text.length < 1000) text += chunk;
  }
  return { bytes, text };
}

/** The HTTP server of a load balancer's worker. Query parameters select the response; `BREAKS` selects a fault. */
async function serve(request, response) {
  const { pathname, searchParams: query } = new URL(request.url, "http://worker");
  if (pathname === HEALTH_CHECK_PATH) return response.writeHead(healthStatus()).end();
  if (query.has("health")) health = Number(query.get("health"));
  if (query.has("die")) process.exit(4);
  const { method, url, headers } = request;
  const body = await readBody(request);
  await delay(Number(query.get("ms") ?? 0));
  const until = query.get("until");
  while (until !== null && !existsSync(until)) await delay(10);
  const seen = { version: VERSION, pid: process.pid, port: PORT, method, url, headers, body, env: process.env };
  const text = query.has("bytes") ? Buffer.alloc(Number(query.get("bytes")), "x") : JSON.stringify(seen);
  const status = BREAKS === "answers" ? 500 : Number(query.get("status") ?? 200);
  response.writeHead(status, ["x-version", VERSION, "set-cookie", "a=1", "set-cookie", "b=2"]);
  if (!query.has("cut")) return response.end(text);
  response.write(text);
  await delay(20);
  response.destroy();
}

const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
server.on("upgrade", (request, socket, head) => {
  socket.on("error", () => socket.destroy());
  if (request.url.startsWith("/refused")) return socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nx-path: ${request.url}\r\n\r\n`,
  );
  socket.write(head);
  socket.pipe(socket);
});
server.listen(Number(PORT), HOST);
if (PORT_HEALTH !== PORT) {
  createServer((request, response) =>
    response.writeHead(request.url === HEALTH_CHECK_PATH ? healthStatus() : 404).end(),
  ).listen(Number(PORT_HEALTH), HOST);
}

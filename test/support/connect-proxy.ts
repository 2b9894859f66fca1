import { createServer } from "node:http";
import { connect } from "node:net";
import { closeServer, listenOnLoopback } from "./loopback";

/** An HTTP proxy that supports only CONNECT, like many corporate proxies. */
export interface ConnectProxy {
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  /** Requested targets as `host:port`, with the credentials sent to the proxy. */
  readonly requests: { target: string; authorization: string | undefined }[];
  close(): Promise<void>;
}

/** Starts the proxy. Every tunnel leads to `target` (`http://127.0.0.1:port`) regardless of its host; a status rejects all tunnels. */
export async function startConnectProxy(target: string | number): Promise<ConnectProxy> {
  const requests: ConnectProxy["requests"] = [];
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on("connect", ({ url = "", headers }, socket, head) => {
    requests.push({ target: url, authorization: headers["proxy-authorization"] });
    socket.on("error", () => socket.destroy());
    if (typeof target === "number") return void socket.end(`HTTP/1.1 ${target} Refused\r\n\r\n`);
    const { hostname, port } = new URL(target);
    const tunnel = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      tunnel.write(head);
      tunnel.pipe(socket).pipe(tunnel);
    });
    tunnel.on("error", () => socket.destroy());
    socket.on("close", () => tunnel.destroy());
  });
  const origin = await listenOnLoopback(server);
  return { origin, requests, close: () => closeServer(server) };
}

import { createServer } from "node:http";
import { connect } from "node:net";
import { listenOnLoopback, shut } from "./loopback";

/** An HTTP proxy that supports only CONNECT, like many corporate proxies. */
export interface ConnectProxy {
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  /** Requested targets as `host:port`, with the credentials sent to the proxy. */
  readonly asked: { target: string; authorization: string | undefined }[];
  close(): Promise<void>;
}

/** Starts it. Every tunnel leads to `goal` (`http://127.0.0.1:port`) regardless of its host; a status rejects all tunnels. */
export async function startConnectProxy(goal: string | number): Promise<ConnectProxy> {
  const asked: ConnectProxy["asked"] = [];
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on("connect", ({ url = "", headers }, socket, head) => {
    asked.push({ target: url, authorization: headers["proxy-authorization"] });
    socket.on("error", () => socket.destroy());
    if (typeof goal === "number") return void socket.end(`HTTP/1.1 ${goal} Refused\r\n\r\n`);
    const { hostname, port } = new URL(goal);
    const onward = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("close", () => onward.destroy());
  });
  const origin = await listenOnLoopback(server);
  return { origin, asked, close: () => shut(server) };
}

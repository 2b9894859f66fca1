import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { closeServer, listenOnLoopback } from "../../../../support/loopback";

/** Starts a Docker Engine that ends each container immediately and returns its port; `create` responds to container creations. */
export async function useDockerEngine(create: (body: string) => { status: number; json: object }): Promise<number> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const path = request.url?.split("?")[0] ?? "";
    const send = (status: number, json: unknown): unknown => response.writeHead(status).end(JSON.stringify(json));
    if (path === "/info") return send(200, { NCPU: 2 });
    if (path === "/networks" || path === "/containers/json") return send(200, []);
    if (path === "/containers/create") {
      const { status, json } = create(body);
      return send(status, json);
    }
    if (path.endsWith("/attach")) return response.writeHead(200).end();
    return send(200, { StatusCode: 0 });
  });
  onTestFinished(() => closeServer(server));
  return Number(new URL(await listenOnLoopback(server)).port);
}
